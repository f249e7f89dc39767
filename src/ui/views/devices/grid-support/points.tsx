/** Points of a curve: a draft until applied, edited in the plot and a table. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { effect, signal } from '@preact/signals';
import { anyCall } from '../../../api/call';
import type { Call, Problem } from '../../../api/call';
import { Refused, useDo } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import type { Handle, Point } from '../../../kit/plot';
import { Chip } from '../../../kit/panel';
import { pathOf } from './functions';
import type { CurveSpec, FunctionEntry } from './functions';
import { adoptionIssue, registerOf, stageCall } from './sets';
import type { SetEntry } from './sets';
import { daemon } from '../../../store/site';
import { say } from '../../../kit/notice';
import { ApplyTo } from './apply-to';
import { keepOwnCurve } from './curve-presets';

const storageKey = 'drafts';

/** Drafts by the key of their editor. */
type Drafts = Readonly<Record<string, unknown>>;

interface Kept {
  /** run of the simulator to which the drafts belong, as `daemon`; null: not known */
  readonly of: string | null;
  readonly drafts: Drafts;
}

function startKept(): Kept {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? '') as Kept;
  } catch {
    return { of: null, drafts: {} };
  }
}

/**
 * Unapplied changes of all editors. They outlive a change of the view and a reload in the same tab, but not the run of
 * the simulator: the next run may have other devices at the same indexes.
 */
const kept = signal<Kept>(startKept());

function keepAll(drafts: Drafts): void {
  kept.value = { of: daemon.peek(), drafts };
  sessionStorage.setItem(storageKey, JSON.stringify(kept.value));
}

effect(() => {
  if (daemon.value === null || kept.peek().of === daemon.value) return;
  const count = Object.keys(kept.peek().drafts).length;
  keepAll({});
  if (count > 0) say('The simulator was restarted: drafts of the previous run were discarded.');
});

/** Drafts of the present run; none until the run is known. */
const presentDrafts = (): Drafts => (daemon.value === null ? {} : kept.value.drafts);

/**
 * Draft of one editor.
 * @param key from `draftKey`
 * @returns the draft, a function that replaces it, and one that ends it unless it has been changed since
 */
export function useKept<T>(key: string): readonly [T | null, (draft: T | null) => void, () => void] {
  const keep = (draft: T | null) => {
    const others = Object.entries(kept.peek().drafts).filter(([other]) => other !== key);
    keepAll(Object.fromEntries(draft === null ? others : [...others, [key, draft]]));
  };
  const present = (presentDrafts()[key] as T | undefined) ?? null;
  const end = () => {
    if (kept.peek().drafts[key] === present) keep(null);
  };
  return [present, keep, end];
}

/** @param rest distinguishes the editors of a function, such as set and curve */
export function draftKey(device: number, name: string, ...rest: readonly (string | number)[]): string {
  return [device, name, ...rest].join(' ');
}

/** True if a function has a draft in any of its editors. */
export function hasDraft(device: number, name: string): boolean {
  const prefix = draftKey(device, name, '');
  return Object.keys(presentDrafts()).some((key) => key.startsWith(prefix));
}

export type ApiPoint = Readonly<Record<string, number>>;

/** A curve of a trip function: its API member and its group of registers. */
interface Part {
  readonly name: string;
  readonly register: string;
}

export interface Draft {
  readonly points: readonly Point[];
  /** points without the draft */
  readonly present: readonly Point[];
  readonly isChanged: boolean;
  /** the stored set being edited; null: the set in force */
  readonly set: SetEntry | null;
  readonly problem: Problem | null;
  readonly busy: boolean;
  readonly call: Call;
  /** name of its curves in the list of applied ones */
  readonly ownName: string;
  readonly handles: readonly Handle[];
  /** the daemon's objection to a point, or to one value of it; null: none */
  readonly issueOf: (index: number, axis?: 0 | 1) => string | null;
  readonly move: (index: number, to: Point) => void;
  readonly add: () => void;
  readonly remove: (index: number) => void;
  /** replaces the points of the draft */
  readonly take: (points: readonly Point[]) => void;
  readonly discard: () => void;
  readonly apply: () => void;
  /** called when the draft was applied */
  readonly onApplied: () => void;
}

/** Points of the API as `[x, y]`. */
export function pointsOf(points: readonly ApiPoint[] | undefined, spec: CurveSpec): readonly Point[] {
  return (points ?? []).map((point): Point => [point[spec.x] ?? 0, point[spec.y] ?? 0]);
}

function round([x, y]: Point, [dx, dy]: CurveSpec['decimals']): Point {
  return [Number(x.toFixed(dx)), Number(y.toFixed(dy))];
}

/** The call that applies a draft, and the places of a value in the refusals of this call and of an adoption. */
function draftWriter(device: number, entry: FunctionEntry, spec: CurveSpec, set: SetEntry | null, part?: Part) {
  if (set === null) {
    const pointer = part === undefined ? '/points' : `/${part.name}/points`;
    return {
      callFor: (points: readonly Point[]) => {
        const curve = { points: points.map(([x, y]) => ({ [spec.x]: x, [spec.y]: y })) };
        const body = part === undefined ? curve : { [part.name]: curve };
        return anyCall('POST', `grid-support/${pathOf(entry.name)}`, { device }, body);
      },
      pointerOf: (index: number, axis: 0 | 1) => `${pointer}/${index}/${axis === 0 ? spec.x : spec.y}`,
      adoptionIssueOf: () => null,
    };
  }
  const prefix = part?.register ?? '';
  const registerAt = (index: number, axis: 0 | 1) => `${prefix}Pt[${index}].${spec.registers[axis]}`;
  return {
    callFor: (points: readonly Point[]) =>
      stageCall(
        device,
        entry,
        set,
        Object.fromEntries<number>([
          [`${prefix}ActPt`, points.length],
          ...points.flatMap(([x, y], index): readonly (readonly [string, number])[] => [
            [registerAt(index, 0), x],
            [registerAt(index, 1), y],
          ]),
        ]),
      ),
    pointerOf: (index: number, axis: 0 | 1) => `/points/${registerOf(entry, set, registerAt(index, axis))}`,
    adoptionIssueOf: (index: number, axis: 0 | 1) =>
      adoptionIssue(entry, set, registerOf(entry, set, registerAt(index, axis))),
  };
}

/**
 * @param live points of the set being edited
 * @param set the stored set being edited; null: the set in force, which changes at once
 * @param part curve of a trip function; absent: the function has one curve
 */
export function useDraft(
  device: number,
  entry: FunctionEntry,
  spec: CurveSpec,
  live: readonly Point[],
  set: SetEntry | null,
  part?: Part,
): Draft {
  const [draft, setDraft, endDraft] = useKept<readonly Point[]>(
    draftKey(device, entry.name, set?.number ?? 1, part?.name ?? 'points'),
  );
  const { busy, problem, run, forget } = useDo();
  const points = draft ?? live;
  const { callFor, pointerOf, adoptionIssueOf } = draftWriter(device, entry, spec, set, part);
  const call = callFor(points);
  const issueAt = (index: number, axis: 0 | 1) =>
    problem?.about(pointerOf(index, axis)) ?? (draft === null ? adoptionIssueOf(index, axis) : null);
  const issueOf = (index: number, axis?: 0 | 1) =>
    axis === undefined ? (issueAt(index, 0) ?? issueAt(index, 1)) : issueAt(index, axis);
  const change = (next: readonly Point[] | null) => {
    setDraft(next);
    forget();
  };
  const ownName = part === undefined ? entry.name : `${entry.name} ${part.name}`;
  const onApplied = () => {
    keepOwnCurve(ownName, points);
    endDraft();
  };
  return {
    points,
    present: live,
    isChanged: draft !== null,
    set,
    problem,
    busy,
    call,
    ownName,
    onApplied,
    issueOf,
    handles: points.map((at, index) => ({
      at,
      label: `Point ${index + 1}: ${at[0]} ${spec.xAxis.unit}, ${at[1]} ${spec.yAxis.unit}`,
      issue: issueOf(index),
    })),
    move: (index, to) =>
      change(
        points.map((point, i) =>
          i === index ? round([to[0], part === undefined ? to[1] : Math.max(0, to[1])], spec.decimals) : point,
        ),
      ),
    add: () => change([...points, points.at(-1) ?? [(spec.xAxis.min + spec.xAxis.max) / 2, spec.yAxis.max / 2]]),
    remove: (index) => change(points.filter((_point, i) => i !== index)),
    take: change,
    discard: () => change(null),
    apply: () => {
      void run(call).then((answer) => {
        if (answer !== undefined) onApplied();
      });
    },
  };
}

interface PointsProps {
  readonly draft: Draft;
  readonly spec: CurveSpec;
  readonly maxPoints: number;
  /** points of set 1, which a stored set can copy */
  readonly inForce: readonly Point[];
  readonly device: number;
  /** presets of the curve */
  readonly children?: ComponentChildren;
}

/** The points as numbers, and the buttons of the draft. */
export function Points({ draft, spec, maxPoints, inForce, device, children }: PointsProps) {
  return (
    <>
      <div class="scroller">
        <table aria-label="Points">
          <thead>
            <tr>
              <th scope="col">Point</th>
              <th scope="col">
                {spec.xAxis.label}, {spec.xAxis.unit}
              </th>
              <th scope="col">
                {spec.yAxis.label}, {spec.yAxis.unit}
              </th>
              <th scope="col">
                <span class="visually-hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {draft.points.map((point, index) => (
              <PointRow key={index} draft={draft} spec={spec} index={index} point={point} />
            ))}
          </tbody>
        </table>
      </div>
      <DraftButtons draft={draft} device={device} apply="Apply points" stage="Stage points">
        {children}
        <button type="button" disabled={draft.points.length >= maxPoints} onClick={draft.add}>
          Add point
        </button>
        {draft.set !== null && (
          <button type="button" onClick={() => draft.take(inForce)}>
            Copy points of set 1
          </button>
        )}
        <span class="muted">
          {draft.points.length} of {maxPoints}
        </span>
      </DraftButtons>
    </>
  );
}

interface DraftButtonsProps {
  readonly draft: Pick<Draft, 'isChanged' | 'busy' | 'call' | 'set' | 'problem' | 'apply' | 'discard' | 'onApplied'>;
  readonly device: number;
  /** label of the button for the set in force */
  readonly apply: string;
  /** label of the button for a stored set */
  readonly stage: string;
  readonly children?: ComponentChildren;
}

/** Buttons that apply or discard a draft. They stay in view while there is one: the plot pushes them off the screen. */
export function DraftButtons({ draft, device, apply, stage, children }: DraftButtonsProps) {
  return (
    <>
      <div class={draft.isChanged ? 'row draft-bar' : 'row'}>
        <button type="button" class="primary" disabled={!draft.isChanged || draft.busy} onClick={draft.apply}>
          {draft.set === null ? apply : stage}
        </button>
        <CallLine call={draft.call} />
        <button type="button" disabled={!draft.isChanged} onClick={draft.discard}>
          Discard
        </button>
        {draft.set === null && <ApplyTo call={draft.call} device={device} onOwn={draft.onApplied} />}
        {children}
        {draft.isChanged && <Chip tone="warn">{draft.set === null ? 'not applied yet' : 'not staged yet'}</Chip>}
      </div>
      <Refused problem={draft.problem} />
    </>
  );
}

interface PointRowProps {
  readonly draft: Draft;
  readonly spec: CurveSpec;
  readonly index: number;
  readonly point: Point;
}

function PointRow({ draft, spec, index, point }: PointRowProps) {
  const cell = (axis: 0 | 1) => (
    <NumberCell
      label={`Point ${index + 1}, ${axis === 0 ? spec.xAxis.label : spec.yAxis.label}`}
      value={point[axis]}
      issue={draft.issueOf(index, axis)}
      onValue={(value) => draft.move(index, axis === 0 ? [value, point[1]] : [point[0], value])}
    />
  );
  return (
    <tr>
      <td>{index + 1}</td>
      <td>{cell(0)}</td>
      <td>{cell(1)}</td>
      <td>
        <button
          type="button"
          class="quiet"
          aria-label={`Remove point ${index + 1}`}
          onClick={() => draft.remove(index)}
        >
          Remove
        </button>
      </td>
    </tr>
  );
}

interface NumberCellProps {
  readonly label: string;
  readonly value: number;
  /** the daemon's objection to the value */
  readonly issue: string | null;
  readonly onValue: (value: number) => void;
}

/**
 * A number in a table; invalid text is discarded. Text being typed is kept here, so that new values of the device do
 * not replace it. A comma is a decimal point.
 */
export function NumberCell({ label, value, issue, onValue }: NumberCellProps) {
  const [text, setText] = useState<string | null>(null);
  const commit = () => {
    if (text === null) return;
    setText(null);
    const typed = Number(text.trim().replace(',', '.'));
    // empty or invalid text does not mean 0: the value stays
    if (text.trim() !== '' && Number.isFinite(typed)) onValue(typed);
  };
  return (
    <>
      <input
        type="text"
        inputMode="decimal"
        aria-label={label}
        aria-invalid={issue !== null}
        value={text ?? String(value)}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={commit}
        onBlur={() => setText(null)}
      />
      {issue !== null && <div class="issue">{issue}</div>}
    </>
  );
}
