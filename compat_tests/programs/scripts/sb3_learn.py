"""Agents of stable-baselines3: ``sb3_learn.py PPO DQN ...``: each learns, acts, is saved and loaded."""

import pathlib
import sys

import numpy
import stable_baselines3
from fixed import fill, normal
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

#: Where it acts, how long it learns, and its arguments.
AGENTS = {
    "PPO": ("CartPole-v1", 512, {"n_steps": 64, "batch_size": 32, "n_epochs": 3}),
    "A2C": ("CartPole-v1", 300, {"use_rms_prop": True}),
    "DQN": ("CartPole-v1", 400, {"learning_starts": 100, "target_update_interval": 50}),
    "SAC": ("Pendulum-v1", 120, {"learning_starts": 60, "batch_size": 32}),
    "TD3": ("Pendulum-v1", 120, {"learning_starts": 60, "batch_size": 32}),
    "DDPG": ("Pendulum-v1", 120, {"learning_starts": 60, "batch_size": 32}),
}

for name in sys.argv[1:]:
    place, steps, options = AGENTS[name]
    make = getattr(stable_baselines3, name)
    rooms = make_vec_env(place, n_envs=2 if name in ("PPO", "A2C") else 1, seed=0)
    agent = make("MlpPolicy", rooms, seed=0, device="cpu", policy_kwargs={"net_arch": [16, 16]}, **options)
    fill(agent.policy)
    watched = normal(6, *rooms.observation_space.shape).numpy()
    print(name, numpy.round(agent.predict(watched, deterministic=True)[0], 3).tolist())
    agent.learn(steps, callback=[CheckpointCallback(100, "kept", name), EvalCallback(
        make_vec_env(place, seed=1), eval_freq=steps // 4, n_eval_episodes=2, verbose=0)])
    print(agent.num_timesteps, agent._n_updates > 0,
          all(bool(p.isfinite().all()) for p in agent.policy.parameters()))
    agent.save(f"agent-{name}")
    again = make.load(f"agent-{name}", device="cpu")
    same = agent.predict(watched, deterministic=True)[0] == again.predict(watched, deterministic=True)[0]
    print(bool(same.all()), sorted(agent.get_parameters()))
    reward, spread = evaluate_policy(again, make_vec_env(place, seed=2), n_eval_episodes=2, warn=False)
    print(numpy.isfinite(reward), numpy.isfinite(spread))
    print(agent.policy)
    print(sorted(path.name for path in pathlib.Path("kept").glob(f"{name}_*")))
