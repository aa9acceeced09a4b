"""What all tests of the Python packages share."""


def pytest_configure(config):
    config.addinivalue_line("markers", "torch: needs torch, and is skipped where that cannot be imported")
