/** Columns of the table of devices, and the choice of them, which this browser keeps. */
import { signal } from '@preact/signals';
import { Menu } from '../../kit/menu';
import { Chip } from '../../kit/panel';
import type { Column } from '../../kit/table';
import { dash, fixed, sourceName, timeOfDay } from '../../look/format';
import { deviceHref } from '../../store/route';
import type { DeviceEntry } from '../../store/site';
import { figuresOf } from '../../store/stream';
import { limitWords, toneOf } from './condition';
import type { Condition } from './condition';
import { LocalChip } from './state';

interface DeviceColumn extends Column<Condition> {
  readonly value: NonNullable<Column<Condition>['value']>;
  /** true: a table without a choice has it */
  readonly isDefault: boolean;
}

/** Source, point and time of the last write to a device: `Modbus 704.WMaxLimPct 12:04:07`. */
function lastWriteText({ last_write: write }: DeviceEntry): string | null {
  return write === null ? null : `${sourceName(write.source)} ${write.name} ${timeOfDay(write.changed_at)}`;
}

const limitText = ({ limitedBy }: Condition) => (limitedBy === null ? 'nothing' : limitWords[limitedBy]);
const figures = ({ device }: Condition) => figuresOf(device.device_index);

function vehicleText({ device: { vehicle } }: Condition): string | null {
  return vehicle === null ? null : `${vehicle.name ?? 'vehicle'} ${fixed(vehicle.soc_pct, 1)}\u00a0%`;
}

type ValueOf = DeviceColumn['value'];

const text = (title: string, value: ValueOf, isDefault = true): DeviceColumn => ({ title, value, isDefault });

function quantity(
  title: string,
  decimals: number,
  value: (condition: Condition) => number | null | undefined,
  isDefault = true,
): DeviceColumn {
  return { title, value, isDefault, numeric: true, cell: (condition) => fixed(value(condition), decimals) };
}

function shareOfRating({ device, powerKw }: Condition): number | null {
  return device.rated_kw > 0 ? (Math.abs(powerKw) / device.rated_kw) * 100 : null;
}

const deviceColumns = {
  index: { ...text('#', ({ device }) => device.device_index), numeric: true },
  name: {
    ...text('Name', ({ device }) => device.name),
    cell: ({ device: { device_index, name } }) => <a href={deviceHref(device_index, 'picture')}>{name}</a>,
  },
  alarms: {
    ...text('Alarms', ({ device }) => device.alarm_count),
    numeric: true,
    cell: ({ device }) => (device.alarm_count > 0 ? <Chip tone="bad">{device.alarm_count}</Chip> : '0'),
  },
  kind: text('Kind', ({ device }) => device.device_type),
  profile: text('Profile', ({ device }) => device.device_profile_name, false),
  state: {
    ...text('State', ({ state }) => state),
    cell: (condition) => (
      <span class="row nowrap">
        <Chip tone={toneOf(condition)}>{condition.state}</Chip>
        <LocalChip device={condition.device.device_index} />
      </span>
    ),
  },
  power: quantity('P, kW', 2, ({ powerKw }) => powerKw),
  possible: quantity('Possible, kW', 2, ({ device }) => device.possible_kw, false),
  rating: quantity('Rating, kW', 2, ({ device }) => device.rated_kw, false),
  share: quantity('P, % of rating', 1, shareOfRating, false),
  reactive: quantity('Q, kvar', 2, (condition) => figures(condition)?.reactiveKvar),
  percent: quantity('V, %', 1, (condition) => figures(condition)?.voltagePct),
  voltage: quantity('V', 1, (condition) => figures(condition)?.voltageV),
  frequency: quantity('Hz', 3, (condition) => figures(condition)?.frequencyHz),
  soc: quantity('SoC, %', 1, ({ socPct, device: { vehicle } }) => socPct ?? vehicle?.soc_pct),
  vehicle: text('Vehicle', vehicleText, false),
  limit: text('Limited by', limitText),
  owner: text('Owner', ({ device: { last_write: write } }) => write && sourceName(write.source), false),
  written: {
    ...text('Last write', ({ device }) => lastWriteText(device)),
    cell: ({ device: { last_write: write } }) =>
      write === null ? (
        dash
      ) : (
        <span class="nowrap" title={write.name}>
          {sourceName(write.source)}, {timeOfDay(write.changed_at)}
        </span>
      ),
  },
  modbus: text('Modbus', ({ device }) => addressText(device), false),
} satisfies Readonly<Record<string, DeviceColumn>>;

export type ColumnKey = keyof typeof deviceColumns;

function addressText({ modbus }: DeviceEntry): string | null {
  return modbus === null ? null : `${modbus.host}:${modbus.port}, unit ${modbus.unit_id}`;
}

const storedAs = 'device-columns';

const isKey = (key: string): key is ColumnKey => Object.hasOwn(deviceColumns, key);

function stored(): ReadonlySet<ColumnKey> | null {
  const keys = localStorage.getItem(storedAs)?.split(' ').filter(isKey) ?? [];
  return keys.length === 0 ? null : new Set(keys);
}

/** null: those of a table without a choice */
const chosen = signal(stored());

function choose(keys: ReadonlySet<ColumnKey> | null): void {
  chosen.value = keys;
  if (keys === null) localStorage.removeItem(storedAs);
  else localStorage.setItem(storedAs, [...keys].join(' '));
}

/** Only snapshots have volts and frequency; a fleet has the voltage in percent. */
const missing = (isFleet: boolean): readonly ColumnKey[] => (isFleet ? ['voltage', 'frequency'] : ['percent']);

type Entry = readonly [key: ColumnKey, column: DeviceColumn];

const entriesFor = (isFleet: boolean) =>
  (Object.entries(deviceColumns) as [ColumnKey, DeviceColumn][]).filter(([key]) => !missing(isFleet).includes(key));

// without its name, a row would tell of no device
const isShown = ([key, { isDefault }]: Entry) => key === 'name' || (chosen.value?.has(key) ?? isDefault);

/** The chosen columns by their keys. @param isFleet true: figures come as one message for all devices */
export const shownColumns = (isFleet: boolean): readonly Entry[] => entriesFor(isFleet).filter(isShown);

/** A menu with a box for each column. */
export function ColumnMenu({ isFleet }: { readonly isFleet: boolean }) {
  const entries = entriesFor(isFleet);
  const toggle = (key: ColumnKey) => {
    const next = new Set(entries.filter(isShown).map(([each]) => each));
    // columns of the other form of the stream stay as they are
    for (const each of missing(isFleet)) if (isShown([each, deviceColumns[each]])) next.add(each);
    if (!next.delete(key)) next.add(key);
    choose(next);
  };
  return (
    <Menu label="Columns" face="Columns" title="Choose the columns of the table">
      {() => (
        <div class="stack">
          <fieldset class="column-choice">
            <legend class="visually-hidden">Columns</legend>
            {entries.map((entry) => (
              <label key={entry[0]} class="field check">
                <input
                  type="checkbox"
                  name={`column-${entry[0]}`}
                  checked={isShown(entry)}
                  disabled={entry[0] === 'name'}
                  onChange={() => toggle(entry[0])}
                />
                {entry[1].title}
              </label>
            ))}
          </fieldset>
          <button type="button" disabled={chosen.value === null} onClick={() => choose(null)}>
            Usual columns
          </button>
        </div>
      )}
    </Menu>
  );
}
