/** Protocols switched on and off, with settings of their adapters. */
import { changeSettings, settingsChanged, settingsRequest } from './settings.ts';
import { invalid } from './http/errors.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';
import { secretSettings } from '../contract/settings.ts';
import type { SettingReport, SettingsControl } from '../contract/settings.ts';

interface Protocol {
  /** folder of its operations */
  readonly path: string;
  readonly title: string;
  readonly tag: Route['tag'];
  /** setting that switches it on */
  readonly toggle: string;
  /** effect of switching it off on connections and devices, in a sentence */
  readonly closes: string;
}

const protocols: readonly Protocol[] = [
  {
    path: 'modbus',
    title: 'Modbus TCP',
    tag: 'Core',
    toggle: 'mb_enable',
    closes: 'Its ports close; what masters have written in registers stays.',
  },
  {
    path: 'csip',
    title: 'the client of IEEE 2030.5 (CSIP)',
    tag: 'CSIP Client',
    toggle: 'csip_client_enable',
    closes: 'Its connections close, and its controls end.',
  },
  {
    path: 'ocpp',
    title: 'the charge points of OCPP',
    tag: 'EVSE / OCPP',
    toggle: 'ocpp_enable',
    closes: 'Transactions and connections end; limits, reservations and DER controls are given up.',
  },
  {
    path: 'dnp3',
    title: 'the outstations of DNP3',
    tag: 'DNP3',
    toggle: 'dnp3_enable',
    closes: 'Its ports close and schedules end; what masters have written in registers stays.',
  },
];

/** True for a setting that has an effect on this protocol alone. */
function isOf({ toggle }: Protocol, { key, changes, needs }: SettingReport, all: readonly SettingReport[]): boolean {
  if (key === toggle) return false;
  if (needs === toggle) return true;
  const switched = all.find((each) => each.key === toggle)?.changes;
  return changes.by === 'adapter' && switched?.by === 'adapter' && changes.adapter === switched.adapter;
}

function checkKeys(protocol: Protocol, { reports }: SettingsControl, values: Readonly<Record<string, unknown>>): void {
  for (const key of Object.keys(values)) {
    const report = reports.find((each) => each.key === key);
    if (report && isOf(protocol, report, reports)) continue;
    const more = report ? '; PATCH settings changes it' : '';
    throw invalid('body', `/${key}`, `is no setting of ${protocol.title}${more}`);
  }
}

function routesOf(protocol: Protocol): readonly Route[] {
  const { path, title, tag, toggle, closes } = protocol;
  const common = { method: 'post', tag, reply: settingsChanged, isSetup: true, problems: ['conflict'] } as const;
  return [
    route({
      ...common,
      path: `/${path}/enable`,
      operationId: `enable_${path}`,
      summary: `Switches on ${title}, with settings`,
      description:
        `The same as PATCH of settings with \`${toggle}\` true and the settings of the body. While it is on, it restarts for ` +
        'settings that need it. `conflict` if it cannot start: then the former settings are in force.',
      body: settingsRequest,
      secretMembers: secretSettings,
      async handle({ settings }, { body, by }) {
        checkKeys(protocol, settings, body);
        return changeSettings(settings, { ...body, [toggle]: true }, by);
      },
    }),
    route({
      ...common,
      path: `/${path}/disable`,
      operationId: `disable_${path}`,
      summary: `Switches off ${title}`,
      description: `${closes} Its settings stay, for the next time that it is switched on.`,
      handle: ({ settings }, { by }) => changeSettings(settings, { [toggle]: false }, by),
    }),
  ];
}

export const protocolRoutes: readonly Route[] = protocols.flatMap(routesOf);
