"""What all tests of the Python packages share."""


def pytest_configure(config):
    config.addinivalue_line("markers", "torch: needs torch, and is skipped where that cannot be imported")
    config.addinivalue_line("markers", "gpu: needs a GPU, and is skipped where there is none")
