# The documents that errors cite, and those to which these lead: every package has them. Those for changing the library stay out.
file(GLOB sdpa_documents CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/*.json ${PROJECT_SOURCE_DIR}/docs/*.svg)
list(FILTER sdpa_documents EXCLUDE REGEX "/(adding-.*|architecture|rebuild-time)\\.(md|svg)$")
