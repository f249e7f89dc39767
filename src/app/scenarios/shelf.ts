/** The scenarios of a simulator in its state folder: each in a slot of its own, since their contents are large. */
import { plainOrigin } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';
import { slotName } from '../../core/store.ts';
import type { JsonValue } from '../../core/store.ts';
import type { Scenario } from '../../scenario/model.ts';
import type { State } from '../state.ts';

/** A scenario without its runs. */
export interface ShelvedScenario {
  readonly id: string;
  /** content as JSON or YAML; null: bundled */
  readonly content: string | null;
  readonly isYaml?: true;
  readonly head: Pick<Scenario, 'name' | 'description' | 'parameters'>;
  readonly bundled: string | null;
  readonly addedBy: Origin;
  readonly addedAtMs: number;
  readonly unusedSettings: readonly string[];
}

/** Ids of scenarios or runs, oldest first; none is used again. */
interface Index {
  readonly lastId: number;
  readonly ids: readonly string[];
}

const indexSlot = slotName('scenarios', 'index');
const slotOf = (id: string) => slotName('scenarios', 'entry', id);
const runIndexSlot = slotName('scenarios', 'runs');
const slotOfRun = (id: string) => slotName('scenarios', 'run', id);

export class ScenarioShelf {
  readonly #state: Pick<State, 'store' | 'values'>;

  constructor(state: Pick<State, 'store' | 'values'>) {
    this.#state = state;
  }

  /** The scenarios of an earlier process. */
  read(): { readonly lastId: number; readonly scenarios: readonly ShelvedScenario[] } {
    const { lastId, entries } = this.#read(indexSlot, slotOf);
    return { lastId, scenarios: entries as readonly unknown[] as readonly ShelvedScenario[] };
  }

  /** The runs of an earlier process that have ended. */
  readRuns(): { readonly lastId: number; readonly entries: readonly JsonValue[] } {
    return this.#read(runIndexSlot, slotOfRun);
  }

  #read(slot: string, slotOfEntry: (id: string) => string) {
    const [index] = this.#state.values(slot) as readonly unknown[] as readonly Partial<Index>[];
    const { lastId = 0, ids = [] } = index ?? {};
    return { lastId, entries: ids.flatMap((id) => this.#state.values(slotOfEntry(id))) };
  }

  /** Resolves when the scenario is durable. @throws SimError STORE_FULL */
  async put({ head, addedBy, ...entry }: ShelvedScenario, index: Index): Promise<void> {
    const { name, description, parameters } = head;
    const value = { ...entry, head: { name, description, parameters }, addedBy: plainOrigin(addedBy) };
    await this.#state.store.slot(slotOf(entry.id)).replace([value as unknown as JsonValue]);
    await this.#write(indexSlot, index);
  }

  /** Resolves when the scenario is removed for good. */
  async drop(id: string, index: Index): Promise<void> {
    await this.#write(indexSlot, index);
    await this.#state.store.slot(slotOf(id)).replace([]);
  }

  /** Resolves when the run is durable. @throws SimError STORE_FULL */
  async putRun(id: string, run: JsonValue, index: Index): Promise<void> {
    await this.#state.store.slot(slotOfRun(id)).replace([run]);
    await this.#write(runIndexSlot, index);
  }

  /** Resolves when the run is removed for good. */
  async dropRun(id: string, index: Index): Promise<void> {
    await this.#write(runIndexSlot, index);
    await this.#state.store.slot(slotOfRun(id)).replace([]);
  }

  #write(slot: string, { lastId, ids }: Index): Promise<void> {
    return this.#state.store.slot(slot).replace([{ lastId, ids: [...ids] }]);
  }
}
