"""The profiler's interface: schedules, errors, what is counted. Times and events' names are not compared."""

from compat_tests.harness import case, each, raises, rand


@each(usual=dict(wait=1, warmup=1, active=2, repeat=2), endless=dict(wait=0, warmup=1, active=1),
      late=dict(wait=2, warmup=1, active=1, skip_first=3, repeat=1), cold=dict(wait=1, warmup=0, active=2),
      no_first_wait=dict(wait=2, warmup=1, active=1, repeat=2, skip_first=1, skip_first_wait=1))
def schedules(T, options):
    action = T.profiler.schedule(**options)
    return [str(action(step)) for step in range(14)], raises(lambda: action(-1))


@case
def what_is_refused(T):
    P = T.profiler
    unused = P.profile()
    return (
        raises(lambda: P.schedule(wait=1, warmup=1, active=0)),
        raises(lambda: P.schedule(wait=-1, warmup=1, active=1)),
        raises(unused.key_averages), raises(unused.events),
        raises(lambda: unused.export_chrome_trace("never.json")), raises(unused.stop),
        raises(lambda: P.profile(activities=["cpu"]).start()),
        raises(lambda: P.profile(activities=[]).start()),
    )


@case
def steps_and_handlers(T):
    P, seen = T.profiler, []

    def ready(prof):
        steps = [e.count for e in prof.key_averages() if e.key == "ProfilerStep*"]
        seen.append((prof.step_num, str(prof.current_action), steps))

    with P.profile(schedule=P.schedule(wait=1, warmup=1, active=2), on_trace_ready=ready,
                   acc_events=True) as prof:
        for _ in range(7):
            rand(T, 2).sum()
            prof.step()
    with P.profile(on_trace_ready=lambda p: seen.append(p.step_num)) as whole:
        with P.record_function("mine"):
            rand(T, 2).sum()
    mine = [(e.key, e.count, e.is_user_annotation) for e in whole.key_averages() if e.key == "mine"]
    return seen, mine, whole.key_averages()[0].count >= 1


@case
def stacks_need_their_option(T):
    with T.profiler.profile() as prof:
        rand(T, 2).sum()
    return raises(lambda: prof.export_stacks("never.txt")), raises(
        lambda: prof.key_averages().table(sort_by="colour"), phrase="no attribute 'colour'",
        because="an average has a class of its own")


@case
def members(T):
    names = list(T.profiler.ProfilerActivity.__members__)
    with T.autograd.profiler.profile(enabled=False) as nothing:
        rand(T, 2)
    there = T.profiler.ProfilerActivity.CPU in T.profiler.supported_activities()
    return names, [a.name for a in T.profiler.ProfilerAction][:4], nothing, there
