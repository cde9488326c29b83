"""The cache of compiled programs on disk: whose folder it is, what an entry must say, how it stays small."""

import contextlib
import gc
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import threading
import time

import pytest

from jaxflow._core import disk_cache

# ----- whole processes ----------------------------------------------------------------------------

PROGRAM = """
import sys
from collections import Counter
import jax
seen = Counter()
jax.monitoring.register_event_listener(lambda event, **_: seen.update([event.rsplit("/", 1)[-1]]))
import jaxflow as torch
x = torch.tensor([0.0, 4.0])
for name in sys.argv[1:]:
    print([round(n, 3) for n in getattr(x, name)().tolist()])
print(seen["cache_hits"], seen["cache_misses"])
"""
SQRT, SQUARE = "[0.0, 2.0]", "[0.0, 16.0]"
_OURS = ("JAXFLOW_CACHE", "JAXFLOW_CACHE_DIR", "JAXFLOW_CACHE_MB", "XDG_CACHE_HOME")


def start(*names, code=PROGRAM, **environment):
    """What the process prints, in lines, the hits and misses last; and what it writes to stderr."""
    inherited = {
        name: value for name, value in os.environ.items()
        if name not in _OURS and not name.startswith("JAX_") and name != "PYTHONWARNINGS"
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *names], capture_output=True, text=True, timeout=300, check=True,
        env={**inherited, "JAX_PLATFORMS": "cpu", "JAXFLOW_INTERPRET": "0", **environment},
    )
    return done.stdout.splitlines(), done.stderr


def entries(folder):
    return sorted(path for path in pathlib.Path(folder).iterdir() if path.is_file())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_an_entry_answers_for_its_own_program_alone_and_the_folder_may_move(tmp_path):
    folder, moved = tmp_path / "cache", tmp_path / "elsewhere" / "moved"
    both = [SQRT, SQUARE]
    assert start("sqrt", "square", JAXFLOW_CACHE_DIR=str(folder)) == ([*both, "0 2"], "")
    assert mode(folder) == 0o700 and [mode(path) for path in entries(folder)] == [0o600] * 2
    one, two = entries(folder)
    kept = one.read_bytes(), two.read_bytes()
    one.write_bytes(kept[1])
    two.write_bytes(kept[0])
    assert start("sqrt", "square", JAXFLOW_CACHE_DIR=str(folder)) == ([*both, "0 2"], "")
    assert one.read_bytes() != kept[1] and two.read_bytes() != kept[0]
    one.write_bytes(one.read_bytes()[:-100])
    moved.parent.mkdir()
    folder.rename(moved)
    assert start("sqrt", "square", JAXFLOW_CACHE_DIR=str(moved)) == ([*both, "1 1"], "")
    assert start("sqrt", "square", JAXFLOW_CACHE_DIR=str(moved)) == ([*both, "2 0"], "")


def test_a_folder_others_can_write_is_refused(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    lines, said = start("sqrt", JAX_COMPILATION_CACHE_DIR=str(folder))
    assert lines == [SQRT, "0 0"] and not entries(folder) and mode(folder) == 0o777
    assert said.count("UserWarning") == 1
    assert str(folder) in said and "others can write" in said and "without a cache" in said


SETTINGS = """
import jax, sys
import jaxflow as torch
torch.ones(3).sqrt().tolist()
print(jax.config.jax_compilation_cache_dir, jax.config.jax_persistent_cache_min_compile_time_secs)
print(jax.config.jax_persistent_cache_enable_xla_caches, torch.arange(3).dtype)
"""


def test_jax_settings_hold(tmp_path):
    folder = tmp_path / "jax"
    folder.mkdir()
    folder.chmod(0o755)
    lines, said = start(code=SETTINGS, JAX_COMPILATION_CACHE_DIR=str(folder))
    assert lines == [f"{folder} 0.0", "none torch.int64"] and said == ""
    # Other programs may read a folder that is not jaxflow's alone; what jaxflow writes they may not.
    assert mode(folder) == 0o755 and [mode(path) for path in entries(folder)] == [0o600]
    lines, said = start(
        code=SETTINGS, JAX_COMPILATION_CACHE_DIR=str(folder), JAX_ENABLE_X64="0",
        JAXFLOW_CACHE_DIR=str(tmp_path / "own"), JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="60",
        JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES="all",
    )
    assert lines == [f"{tmp_path / 'own'} 60.0", "all torch.int64"]
    assert not entries(tmp_path / "own")
    assert said.count("UserWarning") == 1 and "JAX_ENABLE_X64" in said and "int64" in said


def test_what_jax_kept_before_is_left_alone(tmp_path):
    """A process of jax's own keeps its entries in the same folder, and neither reads the other's."""
    code = "import jax, jax.numpy as jnp; print(jax.jit(jnp.sqrt)(4.0))"
    variables = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    start(code=code, **variables)
    before = {path: path.read_bytes() for path in entries(tmp_path)}
    assert before
    start(code="import jaxflow\n" + code, **variables)
    after = {path: path.read_bytes() for path in entries(tmp_path)}
    assert before.items() < after.items()


def test_jax_may_switch_it_off(tmp_path):
    folder = tmp_path / "cache"
    variables = {"JAXFLOW_CACHE_DIR": str(folder), "JAX_ENABLE_COMPILATION_CACHE": "0"}
    assert start("sqrt", **variables)[0] == [SQRT, "0 0"]
    assert not folder.exists()


def test_no_folder_can_be_made(tmp_path):
    (tmp_path / "file").touch()
    lines, said = start("sqrt", JAXFLOW_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert lines == [SQRT, "0 0"] and "without a cache" in said


FULL = """
import resource
import jaxflow as torch
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
print(torch.tensor([0.0, 4.0]).sqrt().tolist(), torch.tensor([0.0, 4.0]).square().tolist())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_disk_that_takes_no_more_stops_nothing(tmp_path):
    lines, said = start(code=FULL, JAXFLOW_CACHE_DIR=str(tmp_path / "cache"))
    assert lines == [f"{SQRT} {SQUARE}"]
    assert said.count("UserWarning") == 1 and str(tmp_path / "cache") in said
    assert not entries(tmp_path / "cache")


# ----- the cache itself ---------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path):
    return disk_cache.Checked(tmp_path / "cache", 1 << 20)


def size(folder):
    return sum(path.stat().st_size for path in entries(folder))


def test_what_was_put_is_got(cache):
    cache.put("a", b"1" * 1000)
    cache.put("a", b"2" * 1000)
    cache.put("b/ü" * 200, b"")
    assert cache.get("a") == b"2" * 1000
    assert cache.get("b/ü" * 200) == b""
    assert cache.get("c") is None


def test_every_flipped_bit_and_every_cut_is_seen(cache):
    cache.put("key", b"value")
    (path,) = entries(cache._path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        for content in (bytes(damaged), whole[:place], whole + whole[:place + 1]):
            path.write_bytes(content)
            assert cache.get("key") is None and not path.exists()
    path.write_bytes(whole)
    assert cache.get("key") == b"value"


def test_the_size_is_bounded_by_least_use(tmp_path):
    cache = disk_cache.Checked(tmp_path / "cache", 100_000)
    for number in range(8):
        cache.put(f"key {number}", bytes(10_000))
    long_ago = time.time_ns() - 10**12
    for order, path in enumerate(entries(cache._path)):
        os.utime(path, ns=(long_ago, long_ago + order))
    used = [number for number in (5, 0) if cache.get(f"key {number}") is not None]
    for number in range(8, 12):
        cache.put(f"key {number}", bytes(10_000))
        assert size(cache._path) <= 100_000
    assert used == [5, 0] and all(cache.get(f"key {number}") for number in (0, 5, 8, 9, 10, 11))
    cache.put("too large", bytes(200_000))
    assert cache.get("too large") is None and cache.get("key 11")
    cache.put("as large as fits", bytes(99_900))
    assert size(cache._path) <= 100_000 and cache.get("as large as fits")


def test_two_that_write_at_once_stay_below_the_bound_together(tmp_path):
    one, two = (disk_cache.Checked(tmp_path / "cache", 1_000_000) for _ in range(2))
    for number in range(200):
        (one, two)[number % 2].put(f"key {number}", bytes(20_000))
        assert size(tmp_path / "cache") <= 1_000_000
    assert one.get("key 199") and two.get("key 198")


def test_jax_bound_holds_where_jaxflow_is_told_none(tmp_path, monkeypatch):
    monkeypatch.delenv("JAXFLOW_CACHE_MB", raising=False)
    assert disk_cache.bound(-1) == 4096 << 20
    assert disk_cache.bound(12345) == 12345
    monkeypatch.setenv("JAX_COMPILATION_CACHE_MAX_SIZE", "-1")
    assert disk_cache.bound(-1) > 1 << 60
    monkeypatch.setenv("JAXFLOW_CACHE_MB", "3")
    assert disk_cache.bound(-1) == disk_cache.bound(12345) == 3 << 20


def test_half_written_files_of_processes_that_died_are_swept(tmp_path):
    cache = disk_cache.Checked(tmp_path / "cache", 1000)
    cache.put("a", b"a")
    old, new = (cache._path / (name + disk_cache.UNFINISHED) for name in ("old", "new"))
    other = cache._path / "notes.txt"
    for path in (old, new, other):
        path.write_bytes(bytes(5000))
    for path in (old, other):
        os.utime(path, (time.time() - 100_000,) * 2)
    cache.put("b", bytes(800))
    cache.put("c", bytes(800))
    assert not old.exists() and new.exists() and other.exists() and cache.get("c")


@pytest.mark.parametrize("place", range(12))
def test_an_interrupt_leaves_the_old_entry_or_the_new_one(cache, place):
    """At every call that `put` makes; what is left over is no entry."""
    cache.put("key", b"old")
    seen = [0]

    def interrupt(frame, event, argument):
        if event in ("call", "c_call"):
            seen[0] += 1
            if seen[0] == place + 2:
                raise KeyboardInterrupt

    gc.disable()  # a collection makes calls as well, in which an interrupt is lost
    with contextlib.suppress(KeyboardInterrupt):
        try:
            sys.setprofile(interrupt)
            cache.put("key", b"new")
        finally:
            sys.setprofile(None)
            gc.enable()
    assert cache.get("key") in (b"old", b"new")
    cache.put("key", b"newer")
    assert cache.get("key") == b"newer"


def test_threads_and_evictions_at_once(tmp_path):
    caches = [disk_cache.Checked(tmp_path / "cache", 60_000) for _ in range(3)]
    wrong, failed = [], []

    def work(cache, number):
        try:
            for turn in range(150):
                key = f"key {(turn * 7 + number) % 20}"
                found = cache.get(key)
                if found is not None and found != key.encode() * 1000:
                    wrong.append(key)
                cache.put(key, key.encode() * 1000)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(cache, n)) for n, cache in enumerate(caches * 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and not failed
    assert all(path.suffix != disk_cache.UNFINISHED for path in entries(tmp_path / "cache"))


def test_the_folder_may_be_deleted_in_between(cache):
    cache.put("a", b"a")
    shutil.rmtree(cache._path)
    assert cache.get("a") is None
    cache.put("a", b"a")
    assert cache.get("a") == b"a" and mode(cache._path) == 0o700


def test_an_entry_that_cannot_be_read_is_a_miss(cache):
    cache.put("a", b"a")
    (path,) = entries(cache._path)
    path.unlink()
    path.mkdir()
    assert cache.get("a") is None
    with pytest.raises(OSError, match="cache"):  # jax makes a warning of it
        cache.put("a", b"a")


# ----- whose folder it is -------------------------------------------------------------------------


def test_a_new_folder_is_private(tmp_path):
    disk_cache.own(tmp_path / "a" / "b")
    assert mode(tmp_path / "a" / "b") == 0o700


def test_a_folder_that_others_could_read_is_closed(tmp_path):
    tmp_path.chmod(0o755)
    disk_cache.own(tmp_path)
    assert mode(tmp_path) == 0o755
    disk_cache.own(tmp_path, alone=True)
    assert mode(tmp_path) == 0o700


@pytest.mark.parametrize("bits", [0o720, 0o702, 0o1777])
def test_what_others_can_write_is_refused(tmp_path, bits):
    tmp_path.chmod(bits)
    with pytest.raises(PermissionError, match="others can write"):
        disk_cache.own(tmp_path)
    assert mode(tmp_path) == bits


def test_what_belongs_to_another_user_is_refused(tmp_path, monkeypatch):
    cache = disk_cache.Checked(tmp_path, 1 << 20)
    cache.put("a", b"a")
    somebody = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody)
    with pytest.raises(PermissionError, match="belongs to another user"):
        disk_cache.own(tmp_path)
    assert cache.get("a") is None  # put into a folder that another user could exchange


def test_a_folder_chosen_later_is_held_to_the_same(tmp_path):
    tmp_path.chmod(0o777)
    with pytest.raises(PermissionError, match="others can write"):
        disk_cache.opened(str(tmp_path))
    tmp_path.chmod(0o700)
    cache, path = disk_cache.opened(str(tmp_path))
    assert isinstance(cache, disk_cache.Checked) and path == str(tmp_path)
