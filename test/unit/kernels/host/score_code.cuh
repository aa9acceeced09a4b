constexpr bool kChangesGradients = true;
inline float modified_score(float score, ScorePlace const& at, ScoreInputs const& inputs) {
    float const step0 = score * inverse_of(number_of(inputs, 0));
    float const step1 = tanh_of(step0);
    float const step2 = step1 * number_of(inputs, 0);
    return step2;
}
inline float modified_gradient(float score, float gradient, ScorePlace const& at, ScoreInputs const& inputs) {
    float const step3 = gradient * number_of(inputs, 1);
    float const step0 = score * inverse_of(number_of(inputs, 0));
    float const step4 = step3 * (1.0f - tanh_of(step0) * tanh_of(step0));
    float const step5 = step4 * inverse_of(number_of(inputs, 1));
    return step5;
}
