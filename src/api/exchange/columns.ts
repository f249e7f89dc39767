/** Columns of an answer: one list for each output, with one value for each attached device. */
import type { ExchangeState, TerminalFlow } from '../../contract/exchange.ts';
import type { ServiceWord } from '../../contract/grid-trace.ts';

/** Numbers of `status`. */
export const statusNumbers: Readonly<Record<ServiceWord, number>> = {
  off: 0,
  ceased: 0,
  waiting: 1,
  ramping: 2,
  in_service: 3,
  shutting_down: 3,
  momentary_cessation: 4,
  tripped: 5,
};
const downNumber = 6;

type Output<S = ExchangeState> = (state: S) => number | null;

const phase =
  (name: 'w' | 'var' | 'a', n: number): Output<TerminalFlow> =>
  ({ phases }) =>
    phases[n]?.[name] ?? null;

const totalOutputs = {
  p_w: ({ powerW }) => powerW,
  q_var: ({ reactivePowerVar }) => reactivePowerVar,
} as const satisfies Readonly<Record<string, Output<TerminalFlow>>>;

export const outputs = {
  ...totalOutputs,
  p_mean_w: ({ meanW }) => meanW,
  q_mean_var: ({ meanVar }) => meanVar,
  status: ({ isDown, service }) => (isDown ? downNumber : statusNumbers[service]),
  soc_pct: ({ socPct }) => socPct,
  p_available_w: ({ available }) => available.injectW,
  q_limit_var: ({ available }) => available.injectVar,
} as const satisfies Readonly<Record<string, Output>>;
export type OutputName = keyof typeof outputs;
export const outputNames = Object.keys(outputs) as OutputName[];
export const defaultOutputs: readonly OutputName[] = ['p_w', 'q_var', 'status'];

export const phaseOutputs = {
  pa_w: phase('w', 0),
  pb_w: phase('w', 1),
  pc_w: phase('w', 2),
  qa_var: phase('var', 0),
  qb_var: phase('var', 1),
  qc_var: phase('var', 2),
  ia_a: phase('a', 0),
  ib_a: phase('a', 1),
  ic_a: phase('a', 2),
} as const satisfies Readonly<Record<string, Output<TerminalFlow>>>;

const phaseTexts = (['a', 'b', 'c'] as const).flatMap((letter) => {
  const place = `of phase ${letter}`;
  return [
    [`p${letter}_w`, `Active power ${place}, W; null: the wiring lacks the phase.`],
    [`q${letter}_var`, `Reactive power ${place}, var; null: the wiring lacks the phase.`],
    [`i${letter}_a`, `Current ${place}, A; null: the wiring lacks the phase.`],
  ] as const;
});

/** Description of each column. */
export const columnTexts: Readonly<Record<string, string>> = {
  p_w: 'Active power at the end of the step, W, positive into the grid.',
  q_var: 'Reactive power at the end of the step, var, positive into the grid.',
  p_mean_w: 'Mean active power over the step, W.',
  q_mean_var: 'Mean reactive power over the step, var.',
  status:
    '0 off, 1 waiting to enter service, 2 ramping up, 3 in service, 4 momentary cessation, 5 tripped, 6 rebooting or failed.',
  soc_pct: 'State of charge, %; null: no battery.',
  p_available_w: 'Active power that could be injected now, W.',
  q_limit_var: 'Reactive power that could be injected now, var.',
  ...Object.fromEntries(phaseTexts),
};

/** Members that an answer has. */
export interface AnswerForm {
  readonly outputs: readonly OutputName[];
  readonly hasPhases: boolean;
}

/** To 0.001 of the unit: solvers with tight tolerances do not settle on the steps of registers. */
const rounded = (value: number | null) => (value === null ? null : Math.round(value * 1000) / 1000 + 0);

/** @param states null for a device that was removed, whose values are null */
export function columnsFrom(
  states: readonly (ExchangeState | null)[],
  { outputs: names, hasPhases }: AnswerForm,
): Readonly<Record<string, readonly (number | null)[]>> {
  return columnsBy(states, [
    ...names.map((name) => [name, outputs[name]] as const),
    ...(hasPhases ? Object.entries(phaseOutputs) : []),
  ]);
}

/** Total power, and on request that of the phases. */
export const flowColumns = (flows: readonly (TerminalFlow | null)[], hasPhases: boolean) =>
  columnsBy<TerminalFlow>(flows, Object.entries(hasPhases ? { ...totalOutputs, ...phaseOutputs } : totalOutputs));

/** Names of the columns of `flowColumns` with phases. */
export const flowColumnNames = [...Object.keys(totalOutputs), ...Object.keys(phaseOutputs)];

function columnsBy<S>(
  states: readonly (S | null)[],
  chosen: readonly (readonly [string, Output<S>])[],
): Readonly<Record<string, readonly (number | null)[]>> {
  return Object.fromEntries(
    chosen.map(([name, output]) => [name, states.map((state) => state && rounded(output(state)))]),
  );
}
