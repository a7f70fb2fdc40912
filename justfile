# What a contributor runs; each line also works as it stands, with .venv/bin on the path.

# What answers in a minute: no processes, no Ray, no browser; the laws with a quarter of the examples.
quick *words:
    python -m pytest -m quick --hypothesis-profile=quick {{words}}

# Everything but the slow tests.
test *words:
    python -m pytest {{words}}

# The slow tests one after the other, then the laws with ten times the examples, other ones each time.
slow:
    python -m pytest -n 0 -m slow
    python -m pytest -m property --hypothesis-profile=thorough

# Style, types, layers.
lint:
    ruff check .
    ruff format --check .
    codespell
    mypy
    lint-imports

# Lines of core and sweep without the kernels that the tests reach in their own process, not compiled.
coverage:
    NUMBA_DISABLE_JIT=1 python -m coverage run -m pytest -n 0 -m "not slow and not ray and not browser and not process" --hypothesis-profile=interpreted
    python -m coverage report
