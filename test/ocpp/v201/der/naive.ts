/** The stacks of DER controls once more, second by second and sentence by sentence, for comparison. */
import type { DerControl } from '../../../../src/ocpp/v201/der-controls/model.ts';

interface Kept {
  readonly control: DerControl;
  superseded: boolean;
  begun: boolean;
}

export class NaiveControls {
  kept: Kept[] = [];
  readonly told: string[] = [];

  #ofType({ control: { type } }: Kept, isDefault: boolean): Kept[] {
    return this.kept.filter((each) => each.control.type === type && each.control.isDefault === isDefault);
  }

  #remove(which: (each: Kept) => boolean, atMs: number): void {
    for (const { control, superseded, begun } of this.kept.filter(which))
      if (!control.isDefault && begun && !superseded) this.told.push(`${atMs} ${control.id} ends`);
    this.kept = this.kept.filter((each) => !which(each));
  }

  /** One second begins. */
  second(nowMs: number): void {
    this.#remove(({ control: { isDefault, endMs } }) => !isDefault && endMs !== null && endMs <= nowMs, nowMs);
    const due = this.kept.filter(
      ({ control, superseded, begun }) => !control.isDefault && !superseded && !begun && control.startMs <= nowMs,
    );
    for (const one of due.sort(
      (a, b) => a.control.priority - b.control.priority || a.control.order - b.control.order,
    )) {
      const rivals = this.#ofType(one, false).filter((each) => each.begun && !each.superseded);
      if (rivals.some(({ control }) => control.priority < one.control.priority)) {
        one.superseded = true;
        continue;
      }
      one.begun = true;
      const losers = rivals.filter(({ control }) => control.priority > one.control.priority);
      for (const loser of losers) loser.superseded = true;
      this.told.push(`${nowMs} ${one.control.id} starts for [${losers.map(({ control }) => control.id).join()}]`);
    }
  }

  /** @returns ids that are superseded now */
  set(control: DerControl, nowMs: number): string[] {
    this.#remove((each) => each.control.id === control.id, nowMs);
    const one: Kept = { control, superseded: false, begun: false };
    this.kept.push(one);
    const others = this.#ofType(one, control.isDefault).filter((each) => each !== one && !each.superseded);
    const rulers = control.isDefault ? others : others.filter(({ begun }) => begun);
    if (rulers.some((each) => each.control.priority < control.priority)) {
      one.superseded = true;
      return [control.id];
    }
    const victims = (control.isDefault ? others : others.filter(({ begun }) => !begun)).filter(
      (each) => each.control.priority > control.priority,
    );
    for (const victim of victims) victim.superseded = true;
    const before = new Set(this.kept.filter(({ superseded }) => superseded));
    this.second(nowMs);
    const later = this.kept.filter((each) => each.superseded && !before.has(each));
    return [...victims, ...later].map((each) => each.control.id);
  }

  clear(matches: (control: DerControl) => boolean, nowMs: number): void {
    this.#remove(({ control }) => matches(control), nowMs);
  }

  /** Of each type the id that is in force. */
  inForce(): Record<string, string> {
    const found: Record<string, string> = {};
    for (const type of new Set(this.kept.map(({ control }) => control.type))) {
      const all = this.kept.filter((each) => each.control.type === type && !each.superseded);
      const scheduled = all.filter((each) => !each.control.isDefault && each.begun);
      const [best] = (scheduled.length > 0 ? scheduled : all.filter((each) => each.control.isDefault)).sort(
        (a, b) => a.control.priority - b.control.priority || b.control.order - a.control.order,
      );
      if (best) found[type] = best.control.id;
    }
    return found;
  }

  /** Each control that is kept, with a mark where it is superseded. */
  shown(): string[] {
    return this.kept.map(({ control: { id }, superseded }) => `${id}${superseded ? ' superseded' : ''}`).sort();
  }
}
