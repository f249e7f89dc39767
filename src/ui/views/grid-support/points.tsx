/** Points of a curve: a draft until it is applied, changed in the plot and in a table. */
import { useState } from 'preact/hooks';
import { anyCall } from '../../api/call';
import type { Call } from '../../api/call';
import type { Problem } from '../../api/perform';
import { Curl, Refused, useDo } from '../../kit/action';
import type { Handle, Point } from '../../kit/plot';
import { Chip } from '../../kit/panel';
import { pathOf } from './functions';
import type { CurveSpec } from './functions';

export type ApiPoint = Readonly<Record<string, number>>;

interface Draft {
  readonly points: readonly Point[];
  readonly isChanged: boolean;
  readonly problem: Problem | null;
  readonly busy: boolean;
  readonly call: Call;
  readonly handles: readonly Handle[];
  /** the daemon's objection to a point; null: none */
  readonly issueOf: (index: number) => string | null;
  readonly move: (index: number, to: Point) => void;
  readonly add: () => void;
  readonly remove: (index: number) => void;
  readonly discard: () => void;
  readonly apply: () => void;
}

function round([x, y]: Point, [dx, dy]: CurveSpec['decimals']): Point {
  return [Number(x.toFixed(dx)), Number(y.toFixed(dy))];
}

/**
 * @param live points in force
 * @param part curve of a trip function; absent: the function has one curve
 */
export function useDraft(
  device: number,
  name: string,
  spec: CurveSpec,
  live: readonly ApiPoint[],
  part?: string,
): Draft {
  const [draft, setDraft] = useState<readonly Point[] | null>(null);
  const { busy, problem, run, forget } = useDo();
  const present = live.map((point): Point => [point[spec.x] ?? 0, point[spec.y] ?? 0]);
  const points = draft ?? present;
  const curve = { points: points.map(([x, y]) => ({ [spec.x]: x, [spec.y]: y })) };
  const body = part === undefined ? curve : { [part]: curve };
  const call = anyCall('POST', `grid-support/${pathOf(name)}`, { device }, body);
  const pointer = part === undefined ? '/points' : `/${part}/points`;
  const issueOf = (index: number) => problem?.about(`${pointer}/${index}`) ?? null;
  const change = (next: readonly Point[]) => {
    setDraft(next);
    forget();
  };
  return {
    points,
    isChanged: draft !== null,
    problem,
    busy,
    call,
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
    discard: () => {
      setDraft(null);
      forget();
    },
    apply: () => {
      void run(call).then((answer) => {
        if (answer !== undefined) setDraft(null);
      });
    },
  };
}

interface PointsProps {
  readonly draft: Draft;
  readonly spec: CurveSpec;
  readonly maxPoints: number;
}

/** The points as numbers, with the buttons of the draft. */
export function Points({ draft, spec, maxPoints }: PointsProps) {
  return (
    <div class="stack">
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
      <div class="row">
        <button type="button" class="primary" disabled={!draft.isChanged || draft.busy} onClick={draft.apply}>
          Apply points
        </button>
        <Curl call={draft.call} />
        <button type="button" disabled={!draft.isChanged} onClick={draft.discard}>
          Discard
        </button>
        <button type="button" disabled={draft.points.length >= maxPoints} onClick={draft.add}>
          Add point
        </button>
        <span class="muted">
          {draft.points.length} of {maxPoints}
        </span>
        {draft.isChanged && <Chip tone="warn">not applied yet</Chip>}
      </div>
      <Refused problem={draft.problem} />
    </div>
  );
}

interface PointRowProps {
  readonly draft: Draft;
  readonly spec: CurveSpec;
  readonly index: number;
  readonly point: Point;
}

function PointRow({ draft, spec, index, point }: PointRowProps) {
  const issue = draft.issueOf(index);
  const input = (axis: 0 | 1) => (
    <input
      type="number"
      step="any"
      aria-label={`Point ${index + 1}, ${axis === 0 ? spec.xAxis.label : spec.yAxis.label}`}
      aria-invalid={issue !== null}
      value={point[axis]}
      onChange={(event) => {
        const { value: text, valueAsNumber: value } = event.currentTarget;
        if (text === '' || !Number.isFinite(value)) {
          // nothing, or no number, is no 0: the point keeps its value
          event.currentTarget.value = String(point[axis]);
          return;
        }
        draft.move(index, axis === 0 ? [value, point[1]] : [point[0], value]);
      }}
    />
  );
  return (
    <tr>
      <td>{index + 1}</td>
      <td>{input(0)}</td>
      <td>
        {input(1)}
        {issue !== null && <div class="issue">{issue}</div>}
      </td>
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
