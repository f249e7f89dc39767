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
  /** content as JSON; null: bundled */
  readonly content: string | null;
  readonly head: Pick<Scenario, 'name' | 'description' | 'parameters'>;
  readonly bundled: string | null;
  readonly addedBy: Origin;
  readonly addedAtMs: number;
  readonly unusedSettings: readonly string[];
}

/** Ids of the scenarios, oldest first; none is used again. */
interface Index {
  readonly lastId: number;
  readonly ids: readonly string[];
}

const indexSlot = slotName('scenarios', 'index');
const slotOf = (id: string) => slotName('scenarios', 'entry', id);

export class ScenarioShelf {
  readonly #state: Pick<State, 'store' | 'values'>;

  constructor(state: Pick<State, 'store' | 'values'>) {
    this.#state = state;
  }

  /** The scenarios of an earlier process. */
  read(): { readonly lastId: number; readonly scenarios: readonly ShelvedScenario[] } {
    const [index] = this.#state.values(indexSlot) as readonly unknown[] as readonly Partial<Index>[];
    const { lastId, ids } = index ?? {};
    if (lastId === undefined || ids === undefined) return { lastId: 0, scenarios: [] };
    const scenarios = ids.flatMap((id) => this.#state.values(slotOf(id)) as readonly unknown[] as ShelvedScenario[]);
    return { lastId, scenarios };
  }

  /** Resolves when the scenario is durable. @throws SimError STORE_FULL */
  async put({ head, addedBy, ...entry }: ShelvedScenario, index: Index): Promise<void> {
    const { name, description, parameters } = head;
    const value = { ...entry, head: { name, description, parameters }, addedBy: plainOrigin(addedBy) };
    await this.#state.store.slot(slotOf(entry.id)).replace([value as unknown as JsonValue]);
    await this.#write(index);
  }

  /** Resolves when the scenario is removed for good. */
  async drop(id: string, index: Index): Promise<void> {
    await this.#write(index);
    await this.#state.store.slot(slotOf(id)).replace([]);
  }

  #write({ lastId, ids }: Index): Promise<void> {
    return this.#state.store.slot(indexSlot).replace([{ lastId, ids: [...ids] }]);
  }
}
