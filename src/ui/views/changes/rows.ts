/** Differences of the running lab from its start, each with its place and, if there is one, the call that ends it. */
import { del, patch, post } from '../../api/call';
import type { BodyOf, Call, ReplyOf } from '../../api/call';
import { settingText } from '../../kit/settings';
import type { Setting } from '../../kit/settings';
import { dash, show, sourceName, words } from '../../look/format';
import { deviceHref, href } from '../../store/route';
import type { DeviceEntry } from '../../store/site';
import { writerText } from '../devices/page';

export interface Difference {
  readonly part: string;
  readonly what: string;
  readonly now: string;
  readonly by: string;
  /** address of the place that shows and changes it */
  readonly to: string;
  readonly back: Back | null;
}

interface Back {
  readonly title: string;
  readonly call: Call;
  /** reason why it cannot be taken back now; null: it can */
  readonly unable: string | null;
}

const backTo = (title: string, call: Call, unable: string | null = null): Back => ({ title, call, unable });

/** Sources that are part of a start. */
const startSources: readonly string[] = ['default', 'profile'];

type Writer = Parameters<typeof writerText>[0] | null;
const writer = (by: Writer) => (by === null ? '' : writerText(by));

export function settingRows({ settings, locked }: ReplyOf<'settings'>): readonly Difference[] {
  const valueOf = ({ secret, value }: Setting) => (secret ? 'set' : settingText(value) || 'none');
  return settings
    .filter(({ origin }) => origin === 'rest')
    .map((setting) => ({
      part: 'Settings',
      what: setting.key,
      now: valueOf(setting),
      by: 'a request',
      to: href('settings', { 'settings-find': setting.key }),
      back: backTo(
        'Take back',
        patch('settings', { body: { [setting.key]: null } }),
        locked ? 'Settings are locked (--settings_locked yes).' : null,
      ),
    }));
}

const follow = { source: 'csv' } as const;

type NameOf = (device: number) => string;

export function gridRows(grid: ReplyOf<'controls/grid'>, nameOf: NameOf): readonly Difference[] {
  const state = grid.outage
    ? 'outage'
    : `${show(grid.voltage_a_pu * 100, 'percent')}, ${show(grid.frequency_hz, 'frequency')}`;
  const common: Difference = {
    part: 'Grid',
    what: 'Common grid',
    now: state,
    by: writer(grid.changed_by),
    to: href('inputs/grid'),
    back: backTo(
      'Follow the profile',
      post('controls/grid', { body: follow }),
      grid.profile_loaded ? null : 'No grid profile is loaded.',
    ),
  };
  const isSet = grid.changed_by !== null && grid.source !== 'csv';
  return [
    ...(isSet ? [common] : []),
    ...grid.deviating_devices.map((device) => ({
      part: 'Grid',
      what: nameOf(device),
      now: 'a grid of its own',
      by: '',
      to: href('inputs/grid', { on: device }),
      back: backTo('Back to the common grid', post('controls/grid', { query: { device }, body: follow })),
    })),
  ];
}

/** Members that an override may have, with their units. */
const weather: Readonly<Record<string, readonly [title: string, unit: string]>> = {
  irradiance_w_m2: ['Irradiance', 'W/m²'],
  ambient_temperature_c: ['Ambient temperature', '°C'],
  cell_temperature_c: ['Cell temperature', '°C'],
  load_kw: ['Load', 'kW'],
};

type Environment = ReplyOf<'controls/environment'>;

export function weatherRows(environment: Environment, nameOf: NameOf): readonly Difference[] {
  const to = href('inputs/weather');
  return [
    ...environment.overridden.map((name): Difference => {
      const [title, unit] = weather[name] ?? [words(name), ''];
      const body: BodyOf<'controls/environment'> = { [name]: null };
      return {
        part: 'Weather & load',
        what: title,
        now: `${String(environment[name])} ${unit}`,
        by: writer(environment.changed_by),
        to,
        back: backTo('From data', post('controls/environment', { body })),
      };
    }),
    ...environment.deviating_devices.map((device) => ({
      part: 'Weather & load',
      what: nameOf(device),
      now: 'weather of its own',
      by: '',
      to: href('inputs/weather', { on: device }),
      back: backTo('Back to the common weather', post('controls/environment', { query: { device }, body: follow })),
    })),
  ];
}

const limits = ['export', 'import', 'generation', 'load'] as const;

export function siteRows({ scopes }: ReplyOf<'site/scopes'>): readonly Difference[] {
  return scopes.flatMap((scope) =>
    scope.owners
      .filter(({ owner }) => owner === 'rest' || owner.startsWith('rest:'))
      .map((row): Difference => {
        const present = limits.filter((limit) => row[`${limit}_limit_kw`] !== null);
        const owner = row.owner === 'rest' ? {} : { owner: row.owner.slice('rest:'.length) };
        const body = {
          ...(scope.devices !== null && { devices: scope.devices }),
          ...owner,
          ...Object.fromEntries(present.map((limit) => [`${limit}_limit_kw`, null])),
        };
        return {
          part: 'Site limits',
          what: scope.devices === null ? 'Whole site' : `Devices ${scope.devices.join(', ')}`,
          now: present.map((limit) => `${limit} ${row[`${limit}_limit_kw`]} kW`).join(', '),
          by: writer(row.changed_by),
          to: href('inputs/site'),
          back: backTo('End', post('site', { body })),
        };
      }),
  );
}

export function holdRows({ holds }: ReplyOf<'controls/holds'>, nameOf: NameOf): readonly Difference[] {
  return holds
    .filter(({ state }) => state === 'active')
    .map(({ id, device_index: device, points, writer: by }) => ({
      part: 'Holds',
      what: `${id}, ${nameOf(device)}`,
      now: points.map(({ name, value }) => `${name} = ${value ?? dash}`).join(', '),
      by: writer(by),
      to: deviceHref(device, 'grid-support/holds'),
      back: backTo('End', post('controls/holds/{id}/end', { params: { id }, query: { device } })),
    }));
}

export function faultRows({ faults }: ReplyOf<'faults'>, nameOf: NameOf): readonly Difference[] {
  return faults
    .filter(({ source }) => !startSources.includes(source))
    .map(({ id, protocol, kind, device_index: device, source }) => ({
      part: 'Faults',
      what: `${protocol}: ${words(kind)}`,
      now: device === null ? 'all devices' : nameOf(device),
      by: sourceName(source),
      to: href('inputs/faults'),
      back: backTo('Clear', post('faults', { body: { clear: { id } } })),
    }));
}

export function localRows(devices: readonly number[], nameOf: NameOf): readonly Difference[] {
  return devices.map((device) => ({
    part: 'Local control',
    what: nameOf(device),
    now: 'remote writes are refused',
    by: '',
    to: deviceHref(device, 'picture'),
    back: backTo('Remote control', post('controls/local', { query: { device }, body: { local: false } })),
  }));
}

/** Writes that have rows of their own. */
const listedElsewhere: readonly string[] = ['local_control', 'battery_mode'];

const isWritten = ({ last_write: write }: DeviceEntry) =>
  write !== null && !startSources.includes(write.source) && !listedElsewhere.includes(write.name);

function writtenRow({ device_index: device, name, last_write: write }: DeviceEntry): Difference {
  const isPoint = write !== null && /^\d/.test(write.name);
  return {
    part: 'Devices',
    what: name,
    now: write === null ? '' : `last write: ${write.name}`,
    by: write === null ? '' : writerText({ ...write, source_detail: null }),
    to: deviceHref(device, isPoint ? 'grid-support/changes' : 'picture'),
    back: null,
  };
}

/** Devices with a row each; more of them are one row. */
const maxListed = 30;

const manyWritten = (count: number): Difference => ({
  part: 'Devices',
  what: `${count} devices`,
  now: 'written since the start',
  by: '',
  to: href('devices', { form: 'table', sort: '-written' }),
  back: null,
});

/** Batteries under a command, and devices that somebody wrote to. */
export function deviceRows(devices: readonly DeviceEntry[]): readonly Difference[] {
  const forced = devices
    .filter(({ kind_state: state }) => state.endsWith('forced'))
    .map(
      ({ device_index: device, name, kind_state: state }): Difference => ({
        part: 'Devices',
        what: name,
        now: state,
        by: '',
        to: deviceHref(device, 'picture'),
        back: backTo('Automatic', post('controls/battery', { query: { device }, body: { mode: 'auto' } })),
      }),
    );
  const written = devices.filter(isWritten);
  const listed = written.length > maxListed ? [manyWritten(written.length)] : written.map(writtenRow);
  return [...forced, ...listed];
}

export function scenarioRows({ scenarios }: ReplyOf<'scenarios'>): readonly Difference[] {
  return scenarios.map(({ id, name, run }) => ({
    part: 'Scenarios',
    what: name,
    now: 'added',
    by: '',
    to: href('scenarios/library', { scenario: id }),
    back: backTo(
      'Remove',
      del('scenarios/{id}', { params: { id } }),
      run?.state === 'running' ? 'The scenario is running.' : null,
    ),
  }));
}
