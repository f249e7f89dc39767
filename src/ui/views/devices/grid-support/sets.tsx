/** Sets of a curve or control model: set 1 is in force; stored ones are written by registers and then adopted. */
import { anyCall } from '../../../api/call';
import type { Call } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Chip, Empty, Panel } from '../../../kit/panel';
import { dash, sourceName, timeOfDay, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import type { FunctionEntry, Settings } from './functions';

/** One set, including the members of its function. */
export type SetEntry = Settings & {
  readonly number: number;
  readonly in_force: boolean;
  readonly adoptable: boolean;
  /** reason why the set cannot be adopted, with the faulty register */
  readonly issue: { readonly point: string; readonly detail: string } | null;
  readonly changed_by: { readonly source: string; readonly changed_at: string | null } | null;
};

export interface Sets {
  readonly adopt_request: number | null;
  readonly adopt_result: string | null;
  readonly sets: readonly SetEntry[];
}

const noSets: Sets = { adopt_request: null, adopt_result: null, sets: [] };

/** Number of the set that the address names. */
const chosenNumber = () => Number(param('set') ?? 1);

interface SetsRead {
  readonly sets: Sets | undefined;
  /**
   * reason why the set of the address cannot be edited; null: it can. The set in force is no substitute: values that
   * are meant for the stored set would reach it, or be lost when the sets are read.
   */
  readonly lack: string | null;
}

/** The sets of a function. */
export function useSets(device: number, name: string): SetsRead {
  const call = anyCall('GET', 'grid-support/sets', { device, function: name }) as Call<Record<string, Sets>>;
  const { data, problem } = useLive(call);
  const sets = data && (data[name] ?? noSets);
  if (param('set') === null) return { sets, lack: null };
  if (sets === undefined) return { sets, lack: problem?.message ?? 'No data yet.' };
  const exists = sets.sets.some(({ number }) => number === chosenNumber());
  return { sets, lack: exists ? null : `There is no set ${param('set')}.` };
}

/** The stored set being edited, from the address. null: the set in force. */
export function storedSet(sets: Sets | undefined): SetEntry | null {
  return sets?.sets.find((set) => set.number === chosenNumber() && !set.in_force) ?? null;
}

/** Register of a set, such as `Crv[1].MustTrip.Pt[0].V`. @param point within the set */
export function registerOf({ kind }: FunctionEntry, set: SetEntry, point: string): string {
  return `${kind === 'droop' ? 'Ctl' : 'Crv'}[${set.number - 1}].${point}`;
}

/** Call that writes points of a stored set. @param points by name within the set */
export function stageCall(
  device: number,
  entry: FunctionEntry,
  set: SetEntry,
  points: Readonly<Record<string, unknown>>,
): Call {
  const written = Object.entries(points).map(([point, value]) => [registerOf(entry, set, point), value] as const);
  return anyCall('POST', `registers/${entry.model}`, { device }, { points: Object.fromEntries(written) });
}

/** Reason why a set could not be adopted, if this register is at fault. */
export function adoptionIssue({ model }: FunctionEntry, set: SetEntry | null, register: string): string | null {
  return set?.issue?.point === `${model}.${register}` ? set.issue.detail : null;
}

interface SetsPanelProps {
  readonly device: number;
  readonly entry: FunctionEntry;
  readonly sets: Sets | undefined;
}

/** The sets and their states, with selection and adoption. */
export function SetsPanel({ device, entry, sets }: SetsPanelProps) {
  if (!sets || sets.sets.length < 2) return null;
  const result = sets.adopt_result;
  const tone = result === 'completed' ? 'good' : result === 'failed' ? 'bad' : 'warn';
  const requestedSet = sets.sets.find(({ number }) => number === sets.adopt_request);
  const edited = chosenNumber();
  const request = entry.kind === 'droop' ? 'AdptCtlReq' : 'AdptCrvReq';
  return (
    <Panel
      title="Sets"
      tools={<Chip tone={tone}>{`adoption of set ${sets.adopt_request ?? dash}: ${words(result)}`}</Chip>}
    >
      {result === 'failed' && (
        <p class="problem">{requestedSet?.issue?.detail ?? 'The set was not adoptable at the time of the request.'}</p>
      )}
      <ul class="sets" aria-label="Sets">
        {sets.sets.map((set) => (
          <li key={set.number} data-set={set.number}>
            <strong>Set {set.number}</strong>
            <button
              type="button"
              aria-pressed={set.number === edited}
              aria-label={`Edit set ${set.number}`}
              onClick={() => setParam('set', set.in_force ? null : set.number)}
            >
              Edit
            </button>
            {set.in_force ? (
              <Chip tone="good">in force</Chip>
            ) : (
              <Action
                call={anyCall('POST', `registers/${entry.model}`, { device }, { points: { [request]: set.number } })}
              >
                Adopt
              </Action>
            )}
            {!set.in_force && (
              <Chip tone={set.issue === null ? 'muted' : 'bad'}>
                {set.issue === null ? 'adoptable' : `${set.issue.point}: ${set.issue.detail}`}
              </Chip>
            )}
            <span class="muted">
              {set.changed_by
                ? `${sourceName(set.changed_by.source)} ${timeOfDay(set.changed_by.changed_at)}`
                : 'as at the start'}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Stands in for the editor of a set that cannot be edited. @param lack see `SetsRead` */
export function MissingSet({ lack, ...panel }: SetsPanelProps & { readonly lack: string }) {
  return (
    <>
      <Empty>{lack}</Empty>
      <SetsPanel {...panel} />
    </>
  );
}

/** Registers of a set in a curve or control model, other than the points of its curve. */
const registers: Readonly<Record<string, string>> = {
  dept_ref: 'DeptRef',
  priority: 'Pri',
  response_time_s: 'RspTms',
  v_ref_pct: 'VRef',
  v_ref_auto_enabled: 'VRefAutoEna',
  v_ref_auto_time_s: 'VRefAutoTms',
  p_min_pct: 'PMin',
  db_uf_hz: 'DbUf',
  db_of_hz: 'DbOf',
  k_uf: 'KUf',
  k_of: 'KOf',
};

/** Register of a member of `grid-support`, within the set. undefined: sets have no such value. */
export function registerOfMember(member: string): string | undefined {
  return registers[member];
}

/** Member of `grid-support` for a register. @param register within the set */
export function memberOfRegister(register: string): string | undefined {
  return Object.keys(registers).find((member) => registers[member] === register);
}

/** Converts a value to its register: enumerations by symbol. */
export function registerValue(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 'ENABLED' : 'DISABLED';
  return typeof value === 'string' ? value.toUpperCase() : value;
}

/** Converts a value to the member of `grid-support`. */
export function memberValue(value: unknown): unknown {
  if (value === 'ENABLED' || value === 'DISABLED') return value === 'ENABLED';
  return typeof value === 'string' ? value.toLowerCase() : value;
}
