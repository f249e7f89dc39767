/** The points of a model: value with symbol and unit, raw registers, writer and age. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, post } from '../../../api/call';
import type { Problem, Call, ReplyOf } from '../../../api/call';
import { Icon } from '../../../kit/icons';
import { copyText } from '../../../kit/table';
import { useClock } from '../../../store/site';
import { param, setParam } from '../../../store/route';
import { dash, fixed, sourceName } from '../../../look/format';

const units: Readonly<Record<string, string>> = {
  Pct: '%',
  Secs: 's',
  Sec: 's',
  Var: 'var',
  C: '°C',
  Tms: 's',
};

/** Units of the standard as engineers write them. */
function unitText(unit: string | null): string {
  return unit === null ? '' : (units[unit] ?? unit);
}

function bitsText(value: number): string {
  const bits: number[] = [];
  for (let bit = 0; bit < 32; bit += 1) if (Math.floor(value / 2 ** bit) % 2 === 1) bits.push(bit);
  return bits.length === 0 ? 'no bit set' : `bit ${bits.join(', ')}`;
}

/** Value as text with the decimals of its scale factor; a dash without a value. */
export function valueText({ value, symbol, unit, scale_factor: scale, type }: RegisterPoint): string {
  if (value === null) return dash;
  if (typeof value === 'string') return value === '' ? '""' : value;
  if (symbol !== undefined && symbol !== null) return `${symbol} (${value})`;
  if (type.startsWith('bitfield')) return `0x${value.toString(16)} (${bitsText(value)})`;
  const text = scale !== null && scale < 0 ? fixed(value, Math.min(-scale, 8)) : String(value);
  return [text, unitText(unit)].filter(Boolean).join('\u00a0');
}

function rawText(raw: readonly number[] | undefined | null): string {
  return raw?.map((register) => register.toString(16).padStart(4, '0')).join(' ') ?? dash;
}

/** Simulated time since a write. */
function ageText(changedAt: string | null, simTime: string | undefined): string {
  if (changedAt === null || simTime === undefined) return dash;
  const seconds = Math.max(0, Math.round((Date.parse(simTime) - Date.parse(changedAt)) / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** A text that flashes when it changes. */
function Flashing({ text }: { readonly text: string }) {
  const before = useRef(text);
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    if (before.current === text) return;
    before.current = text;
    setChanges((count) => count + 1);
  }, [text]);
  return (
    <span key={changes} class={changes > 0 ? 'flash' : undefined}>
      {text}
    </span>
  );
}

interface PointTableProps {
  readonly model: Registers;
  readonly points: readonly RegisterPoint[];
  readonly chosen: string | null;
  /** new values as text, by point; null: values cannot be edited */
  readonly typed: Readonly<Record<string, string>> | null;
  readonly problem: Problem | null;
  readonly onTyped: (name: string, text: string) => void;
}

/** `Crv[0].Pt[2]` of `Crv[0].Pt[2].V`; empty for a point of the model itself. */
function groupOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(0, dot);
}

const isInside = (name: string, group: string) => name === group || name.startsWith(`${group}.`);

function csvOf(points: readonly RegisterPoint[]): string {
  const field = (value: string | number | null | undefined) => {
    const text = String(value ?? '');
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = points.map((point) =>
    [
      point.name,
      point.label,
      point.value,
      point.symbol,
      point.unit,
      rawText(point.raw),
      point.address,
      point.access,
      point.source,
      point.source_detail,
      point.changed_at,
    ]
      .map(field)
      .join(','),
  );
  return ['name,label,value,symbol,unit,raw,address,access,source,source_detail,changed_at', ...lines].join('\n');
}

/** The points of a model in the order of its registers, with collapsible groups. */
export function PointTable({ model, points, chosen, typed, problem, onTyped }: PointTableProps) {
  const simTime = useClock()?.sim_time;
  const closed = (param('closed') ?? '').split(' ').filter((name) => name !== '');
  const toggle = (group: string) =>
    setParam(
      'closed',
      (closed.includes(group) ? closed.filter((name) => name !== group) : [...closed, group]).join(' '),
    );
  let last = '';
  return (
    <div class="scroller points" tabIndex={0} role="region" aria-label={`Points of model ${placeOf(model)}`}>
      <table aria-label={`Points of model ${placeOf(model)}`}>
        <thead>
          <tr>
            {['Point', 'Label', 'Value', 'Raw', 'Address', 'Access', 'Source', 'Age'].map((title) => (
              <th key={title} scope="col" class={title === 'Address' ? 'num' : undefined}>
                {title}
                {title === 'Age' && (
                  <button
                    type="button"
                    class="quiet csv"
                    aria-label={`Copy model ${placeOf(model)} as CSV`}
                    title="Copy as CSV"
                    onClick={() => void copyText(csvOf(points), 'CSV')}
                  >
                    <Icon name="copy" />
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map((point) => {
            const group = groupOf(point.name);
            const isNew = group !== last;
            last = group;
            const outer = closed.some((name) => name !== group && isInside(group, name));
            return (
              <>
                {isNew && group !== '' && !outer && (
                  <tr key={`group ${group}`} class="group">
                    <th colSpan={8} scope="rowgroup">
                      <button
                        type="button"
                        class="sort"
                        aria-expanded={!closed.includes(group)}
                        onClick={() => toggle(group)}
                      >
                        {closed.includes(group) ? '▸' : '▾'} {group}
                      </button>
                    </th>
                  </tr>
                )}
                {!closed.some((name) => isInside(group, name)) && (
                  <PointRow
                    key={point.name}
                    point={point}
                    simTime={simTime}
                    isChosen={point.name === chosen}
                    typed={typed === null || point.access === 'R' ? null : (typed[point.name] ?? '')}
                    problem={problem}
                    onTyped={onTyped}
                  />
                )}
              </>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface PointRowProps {
  readonly point: RegisterPoint;
  readonly simTime: string | undefined;
  readonly isChosen: boolean;
  /** new value as text; null: it cannot be edited */
  readonly typed: string | null;
  readonly problem: Problem | null;
  readonly onTyped: (name: string, text: string) => void;
}

function PointRow({ point, simTime, isChosen, typed, problem, onTyped }: PointRowProps) {
  const pointer = `/points/${point.name}`;
  const issue = problem?.about(pointer) ?? null;
  const allowed = problem?.issues.find(({ name }) => name === pointer)?.allowed ?? [];
  const list = `names-${point.name}`;
  return (
    <tr
      class={point.implemented ? 'choosable' : 'choosable absent'}
      aria-selected={isChosen}
      data-point={point.name}
      onClick={() => setParam('point', point.name)}
    >
      <td>
        <button type="button" class="sort" onClick={() => setParam('point', point.name)}>
          {point.name}
        </button>
      </td>
      <td>{point.label}</td>
      <td class="value">
        <Flashing text={valueText(point)} />
        {typed !== null && (
          <div>
            <input
              type="text"
              aria-label={`New value of ${point.name}`}
              aria-invalid={issue !== null}
              list={allowed.length > 0 ? list : undefined}
              placeholder={String(point.symbol ?? point.value ?? 'null')}
              value={typed}
              onInput={(event) => onTyped(point.name, event.currentTarget.value)}
            />
            {allowed.length > 0 && (
              <datalist id={list}>
                {allowed.map((name) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
            )}
          </div>
        )}
        {issue !== null && (
          <small class="issue" role="alert">
            {issue}
          </small>
        )}
      </td>
      <td class="mono raw">{rawText(point.raw)}</td>
      <td class="num">{point.address}</td>
      <td>{point.access}</td>
      <td title={point.source_detail ?? undefined}>{sourceName(point.source)}</td>
      <td class="num">{ageText(point.changed_at, simTime)}</td>
    </tr>
  );
}

export type Model = ReplyOf<'registers'>['models'][number];
export type Registers = ReplyOf<'registers/{model_id}'>;
type RegisterPoint = Registers['points'][number];
/** Name of a model in the map: its id, or `203:2` at its second place. */
export type Place = string;
/** Index of a device, or the meter. */
export type Owner = number | 'site';

export function modelsCall(owner: Owner): Call<{ readonly models: readonly Model[] }> {
  return owner === 'site' ? get('site/registers') : get('registers', { query: { device: owner } });
}

export function placeOf({ id, place }: Pick<Model, 'id' | 'place'>): Place {
  return place ?? String(id);
}

export function pointsCall(owner: Owner, model: Place): Call<Registers> {
  const params = { model_id: model };
  return owner === 'site'
    ? get('site/registers/{model_id}', { params, query: { raw: true } })
    : get('registers/{model_id}', { params, query: { device: owner, raw: true } });
}

export function writeCall(device: number, model: Place, points: Readonly<Record<string, string>>): Call {
  const values = Object.fromEntries(Object.entries(points).map(([name, text]) => [name, valueOf(text)]));
  return post('registers/{model_id}', { params: { model_id: model }, query: { device }, body: { points: values } });
}

/** A number, also as `0x1f`, otherwise the name of a symbol; `null` clears a point of a stored curve. */
function valueOf(text: string): string | number | null {
  const plain = text.trim();
  if (plain === 'null') return null;
  return plain !== '' && Number.isFinite(Number(plain)) ? Number(plain) : plain;
}
