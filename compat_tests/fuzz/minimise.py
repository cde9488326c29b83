"""Delta debugging: the shortest program, by leaving statements out, that still shows a finding."""


def minimise(program, fails):
    """A part of ``program`` that still ``fails``, from which nothing more can be left out."""
    size = max(len(program) // 2, 1)
    while True:
        removed = False
        start = 0
        while start < len(program):
            shorter = program[:start] + program[start + size :]
            if shorter and fails(shorter):
                program, removed = shorter, True
            else:
                start += size
        if size == 1 and not removed:
            return program
        size = max(size // 2, 1)
