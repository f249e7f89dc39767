/** The text of the editor, which outlives the view and a reload of the page. */
import { signal } from '@preact/signals';

export interface Draft {
  readonly text: string;
  /** the kept scenario that a save replaces; null: none */
  readonly keptId: string | null;
  /** text that is saved or was opened; the draft is changed if it differs */
  readonly saved: string;
}

const key = 'derbench.scenario-draft';

export const template = `name: My scenario
description: The voltage rises, and the inverter stays connected.
steps:
  - name: the voltage rises
    grid: { voltage_pu: 1.06 }
    expect:
      - { point: 701.LLV, above: 500, within: 5 s }
      - { no_alarm: true, for: 10 s }
finally:
  - grid: { voltage_pu: 1 }
`;

const empty: Draft = { text: template, keptId: null, saved: template };

function read(): Draft {
  try {
    const text = sessionStorage.getItem(key);
    return text === null ? empty : { ...empty, ...(JSON.parse(text) as Partial<Draft>) };
  } catch {
    // the browser forbids storage, or another version wrote it
    return empty;
  }
}

export const draft = signal<Draft>(read());

export function setDraft(change: Partial<Draft>): void {
  draft.value = { ...draft.value, ...change };
  try {
    sessionStorage.setItem(key, JSON.stringify(draft.value));
  } catch {
    // full or forbidden: the draft lasts until the page is left
  }
}

export const isChanged = ({ text, saved }: Draft): boolean => text !== saved;
