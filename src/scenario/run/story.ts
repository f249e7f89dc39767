/** A run for the timeline: its begin, its steps, its failures and its end. */
import type { RunState } from '../../contract/scenarios.ts';
import type { Origin } from '../../core/origin.ts';
import type { TimelineLevel } from '../../core/timeline/entry.ts';
import type { ScenarioStory } from './host.ts';

const endWords: Readonly<Record<RunState, string>> = {
  running: 'goes on',
  passed: 'has passed',
  failed: 'has failed',
  stopped: 'was stopped',
  error: 'could not be run',
};

export class Story {
  readonly #timeline: ScenarioStory;
  readonly #name: string;

  constructor(timeline: ScenarioStory, name: string) {
    this.#timeline = timeline;
    this.#name = name;
  }

  begins(by: Origin): void {
    this.#tell('info', 'Scenario begins', `The scenario ${this.#name} begins.`, by);
  }

  step(name: string): void {
    this.#tell('info', `Step: ${name}`, `The step ${name} begins.`);
  }

  failure(words: string): void {
    this.#tell('warn', 'Assertion failed', words.endsWith('.') ? words : `${words}.`);
  }

  /** @param error reason of the error; null: none */
  ends(state: RunState, error: string | null): void {
    const level = state === 'failed' || state === 'error' ? 'warn' : 'info';
    const reason = error === null ? '' : `: ${error}`;
    const title = `Scenario ${endWords[state]}`;
    this.#tell(level, title, `The scenario ${this.#name} ${endWords[state]}${reason}.`);
  }

  #tell(
    level: TimelineLevel,
    title: string,
    text: string,
    by: Origin = { source: 'scenario', peer: this.#name },
  ): void {
    this.#timeline.add({ kind: 'scenario', level, title, text, by, ref: { type: 'scenario', id: this.#name } });
  }
}
