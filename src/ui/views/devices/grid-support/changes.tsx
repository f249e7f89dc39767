/**
 * Changed points, and the calls that restore their start values: set 1 by `grid-support`, all others by `registers`.
 */
import { useState } from 'preact/hooks';
import { anyCall, get, perform, Problem } from '../../../api/call';
import type { Call, ReplyOf } from '../../../api/call';
import { Action, Refused } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import { Facts, Panel, Dialog, Chip } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { dash, fixed, sourceName, timeOfDay } from '../../../look/format';
import { useLive, refresh } from '../../../store/live';
import { deviceHref } from '../../../store/route';
import { useSchema } from '../../../store/schemas';
import { pathOf, functions, labelled } from './functions';
import type { FunctionEntry, Settings } from './functions';
import { ValuesForm } from './values-form';
import { memberOfRegister, memberValue } from './sets';

type Change = ReplyOf<'registers/changes'>['changes'][number];

type RegisterPoints = readonly { readonly name: string; readonly value?: unknown; readonly symbol?: unknown }[];

/** Answer of `registers/{model}`. */
interface ModelReply {
  readonly points: RegisterPoints;
}

/** `705.Crv[0].Pt[1].V` as model and path. */
function split(point: string): { readonly model: string; readonly path: string } {
  const [model = '', ...path] = point.split('.');
  return { model, path: path.join('.') };
}

function startOf(row: Change): string | number | null {
  return row.start_symbol ?? row.start_value;
}

/** Paths of points of set 1, which `registers` refuses to write. */
const setOne = /^(Crv|Ctl)\[0\]\./;

/** True for points of the set in force, which are written by `grid-support`. */
function isSetOne({ point }: Change): boolean {
  return setOne.test(split(point).path);
}

/** True if a call can restore the start value; points without a writer are written by the device itself. */
function canPutBack(row: Change): boolean {
  return row.changed_by !== null && startOf(row) !== null;
}

/** The function of a model. */
function functionOf(model: string): FunctionEntry | undefined {
  return functions.find((entry) => String(entry.model) === model);
}

/** Curves of trip functions by prefix of their registers; the last entry is the only curve of other functions. */
const partNames: readonly (readonly [prefix: string, member: string])[] = [
  ['MustTrip.', 'must_trip'],
  ['MayTrip.', 'may_trip'],
  ['MomCess.', 'momentary_cessation'],
  ['', ''],
];

/** The body of `grid-support/<function>` that restores set 1. @param model present points of the model */
function setOneBody(entry: FunctionEntry, rows: readonly Change[], model: RegisterPoints): Settings {
  const values = new Map<string, unknown>(
    model.filter(({ name }) => setOne.test(name)).map((p) => [withinSet(p.name), p.symbol ?? p.value]),
  );
  const changed = rows.map((row) => withinSet(split(row.point).path));
  rows.forEach((row, index) => values.set(changed[index] ?? '', startOf(row)));
  const body: Record<string, unknown> = {};
  for (const register of changed) {
    const member = memberOfRegister(register);
    if (member !== undefined) {
      body[member] = memberValue(values.get(register));
      continue;
    }
    const [group = '', part = ''] = partNames.find(([prefix]) => register.startsWith(prefix)) ?? [];
    const points = entry.curve && pointsFrom(values, group, entry.curve);
    if (points) Object.assign(body, part === '' ? { points } : { [part]: { points } });
  }
  return body;
}

/** Path within the set. */
function withinSet(path: string): string {
  return path.replace(setOne, '');
}

function pointsFrom(values: ReadonlyMap<string, unknown>, group: string, spec: NonNullable<FunctionEntry['curve']>) {
  return Array.from({ length: Number(values.get(`${group}ActPt`)) }, (_unused, index) => ({
    [spec.x]: values.get(`${group}Pt[${index}].${spec.registers[0]}`),
    [spec.y]: values.get(`${group}Pt[${index}].${spec.registers[1]}`),
  }));
}

/** One call of "put all back". */
interface Restoring {
  readonly title: string;
  readonly call: Call;
}

/** Rows by model. */
function byModel(rows: readonly Change[]): ReadonlyMap<string, readonly Change[]> {
  const groups = new Map<string, Change[]>();
  for (const row of rows) {
    const { model } = split(row.point);
    groups.set(model, [...(groups.get(model) ?? []), row]);
  }
  return groups;
}

/**
 * The calls that restore start values: one for each model, atomic for its points, and one for set 1 of all functions.
 * @param models answers of `registers/{model}` for models whose set 1 differs
 */
function restoringCalls(
  device: number,
  rows: readonly Change[],
  models: ReadonlyMap<string, ModelReply>,
): readonly Restoring[] {
  const possible = rows.filter(canPutBack);
  const plain = byModel(possible.filter((row) => !isSetOne(row)));
  const calls = [...plain].map(([model, changes]): Restoring => {
    const points = Object.fromEntries(changes.map((row) => [split(row.point).path, startOf(row)]));
    return {
      title: `Model ${model}: ${changes.map((row) => split(row.point).path).join(', ')}`,
      call: anyCall('POST', `registers/${model}`, { device }, { points }),
    };
  });
  const bodies: Record<string, Settings> = {};
  const titles: string[] = [];
  for (const [model, changes] of byModel(possible.filter(isSetOne))) {
    const entry = functionOf(model);
    const present = models.get(model);
    if (!entry || !present) continue;
    bodies[entry.name] = setOneBody(entry, changes, present.points);
    titles.push(entry.title);
  }
  if (titles.length === 0) return calls;
  return [
    ...calls,
    { title: `Set 1 of ${titles.join(', ')}`, call: anyCall('POST', 'grid-support', { device }, bodies) },
  ];
}

/** Builds the calls after reading the models whose set 1 differs: each call has all points of a curve. */
async function readCalls(device: number, rows: readonly Change[]): Promise<readonly Restoring[]> {
  const models = [...byModel(rows.filter(isSetOne)).keys()];
  const replies = await Promise.all(
    models.map(async (model) => {
      const call = anyCall('GET', `registers/${model}`, { device }) as Call<ModelReply>;
      return [model, await perform(call)] as const;
    }),
  );
  return restoringCalls(device, rows, new Map(replies));
}

interface PutAllBackProps {
  readonly device: number;
  readonly rows: readonly Change[];
}

/** Restores all start values: shows the calls first, then the result of each. */
function PutAllBack({ device, rows }: PutAllBackProps) {
  const [calls, setCalls] = useState<readonly Restoring[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const possible = rows.filter(canPutBack);
  const open = async () => {
    try {
      setCalls(await readCalls(device, possible));
      setProblem(null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
  };
  return (
    <>
      <button type="button" disabled={possible.length === 0} onClick={() => void open()}>
        Put all back
      </button>
      <Refused problem={problem} />
      {calls && <Calls calls={calls} left={rows.length - possible.length} onClose={() => setCalls(null)} />}
    </>
  );
}

interface CallsProps {
  readonly calls: readonly Restoring[];
  /** number of points that no call can restore */
  readonly left: number;
  readonly onClose: () => void;
}

type Outcome = 'done' | Problem;

function Calls({ calls, left, onClose }: CallsProps) {
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const [busy, setBusy] = useState(false);
  const refused = outcomes.filter((outcome) => outcome !== 'done').length;
  const run = async () => {
    setBusy(true);
    const results: Outcome[] = [];
    // one after the other, in the displayed order
    for (const { call } of calls) {
      try {
        await perform(call);
        results.push('done');
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        results.push(error);
      }
      setOutcomes([...results]);
    }
    setBusy(false);
    refresh();
  };
  const isOver = outcomes.length === calls.length;
  return (
    <Dialog title="Put all back" onClose={onClose}>
      <p class="muted">Each call is carried out whole or not at all; one that is refused does not stop the next.</p>
      <ol class="restoring">
        {calls.map(({ title, call }, index) => {
          const outcome = outcomes[index];
          return (
            <li key={title}>
              <div class="row">
                {title} <CallLine call={call} />
                {outcome !== undefined && (
                  <Chip tone={outcome === 'done' ? 'good' : 'bad'}>{outcome === 'done' ? 'put back' : 'refused'}</Chip>
                )}
              </div>
              {outcome !== undefined && outcome !== 'done' && <Refused problem={outcome} />}
            </li>
          );
        })}
      </ol>
      {left > 0 && (
        <p class="muted">
          Not restored: {left} {left === 1 ? 'point' : 'points'}, written by the device itself or without a start value.
        </p>
      )}
      <div class="row">
        <button type="button" class="primary" disabled={busy || isOver} onClick={() => void run()}>
          Make {calls.length} {calls.length === 1 ? 'call' : 'calls'}
        </button>
        {isOver && (
          <span role="status">
            {refused === 0 ? 'All start values are restored.' : `${refused} of ${calls.length} refused.`}
          </span>
        )}
      </div>
    </Dialog>
  );
}

/** Writes the start value of a point; the daemon explains a refusal. */
function PutBack({ device, row }: { readonly device: number; readonly row: Change }) {
  if (!canPutBack(row)) return null;
  const { model, path } = split(row.point);
  return (
    <Action call={anyCall('POST', `registers/${model}`, { device }, { points: { [path]: startOf(row) } })}>
      Put back
    </Action>
  );
}

/** Restores set 1 of a curve as a whole, since its registers are read only. */
function PutSetBack({ device, rows }: { readonly device: number; readonly rows: readonly Change[] }) {
  const { model } = split(rows[0]?.point ?? '');
  const entry = functionOf(model);
  const data = useLive(anyCall('GET', `registers/${model}`, { device }) as Call<ModelReply>, 5000).data;
  if (!entry || !data) return null;
  return (
    <Action
      call={anyCall('POST', `grid-support/${pathOf(entry.name)}`, { device }, setOneBody(entry, rows, data.points))}
      title="Writes all start values of the set in force"
    >
      Put set 1 back
    </Action>
  );
}

/** Points that differ from the start. */
export function Changes({ device }: { readonly device: number }) {
  const rows = useLive(get('registers/changes', { query: { device } })).data?.changes ?? [];
  const setsOne = byModel(rows.filter((row) => isSetOne(row) && canPutBack(row)));
  return (
    <Panel
      title="Different from the start"
      flush
      tools={
        <>
          <span class="muted">
            {rows.length} {rows.length === 1 ? 'point' : 'points'}
          </span>
          <PutAllBack device={device} rows={rows} />
        </>
      }
    >
      <Table
        name="Different from the start"
        rows={rows}
        keyOf={({ point }) => point}
        empty="No point differs from its start value."
        columns={[
          {
            title: 'Point',
            value: ({ point }) => point,
            cell: ({ point }) => {
              const { model, path } = split(point);
              return <a href={deviceHref(device, 'registers', { model, point: path })}>{point}</a>;
            },
          },
          { title: 'Meaning', value: ({ label }) => label },
          {
            title: 'Start',
            cell: (row) => String(startOf(row) ?? dash),
            value: (row) => String(startOf(row) ?? ''),
          },
          {
            title: 'Now',
            cell: (row) => String(row.symbol ?? row.value ?? dash),
            value: (row) => String(row.symbol ?? row.value ?? ''),
          },
          {
            title: 'Writer',
            cell: (row) =>
              row.changed_by === null
                ? 'the device itself'
                : `${sourceName(row.changed_by.source)} ${row.changed_by.source_detail ?? ''}`,
            value: (row) => row.changed_by?.source,
          },
          {
            title: 'Time',
            cell: (row) => timeOfDay(row.changed_by?.changed_at),
            value: (row) => row.changed_by?.changed_at,
          },
          {
            title: 'Put back',
            cell: (row) => {
              const setRows = setsOne.get(split(row.point).model);
              if (!isSetOne(row)) return <PutBack device={device} row={row} />;
              // one button per set, at its first point
              return setRows?.[0] === row ? <PutSetBack device={device} rows={setRows} /> : null;
            },
          },
        ]}
      />
    </Panel>
  );
}

/** Slopes set by commands, which override 704.WRmp and VarRmp. */
export function Gradient({ device }: { readonly device: number }) {
  const data = useLive(get('controls/gradient', { query: { device } })).data;
  const { schema, problem } = useSchema('GradientRequest');
  return (
    <Panel title="Gradient of commands">
      <Facts
        rows={[
          ['Active power', `${fixed(data?.w_pct_per_s, 4)} % of WMax per s, from the ${data?.w_source ?? dash}`],
          ['Reactive power', `${fixed(data?.var_pct_per_s, 4)} % per s, from the ${data?.var_source ?? dash}`],
        ]}
      />
      {data && schema && (
        <ValuesForm
          key={device}
          schema={labelled(schema, () => true)}
          values={{
            w_pct_per_s: data.w_source === 'gradient' ? data.w_pct_per_s : null,
            var_pct_per_s: data.var_source === 'gradient' ? data.var_pct_per_s : null,
          }}
          submit="Set gradient"
          call={(changed) => anyCall('POST', 'controls/gradient', { device }, changed)}
        />
      )}
      <Refused problem={problem} />
    </Panel>
  );
}
