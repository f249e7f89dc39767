/** Settings of the program: configuration file, history and log, HTTP interface and telemetry stream. */
import { captureBounds } from '../../contract/captures.ts';
import { logLevels } from '../../core/log/log.ts';
import { bundledExampleNames, isBundledExample } from '../profile/bundled.ts';
import { atStart, heldAtStart, live } from './changes.ts';
import { optionalSetting, setting } from './setting.ts';
import {
  choice,
  integer,
  onOff,
  path,
  pathOrName,
  host,
  hostList,
  originList,
  port,
  folderPath,
} from './value-kinds.ts';

const listener = heldAtStart('Requests come through this listener, also the one that would change it.');
const access = heldAtStart('It limits who may use this interface, so that no request may widen it.');

export const programSettings = {
  config: optionalSetting({
    flags: ['--config'],
    kind: pathOrName(isBundledExample, `a path, or a bundled configuration (${bundledExampleNames.join(', ')})`),
    noFile: true,
    changes: heldAtStart('It names the file that this start has read.'),
    doc: `Configuration file, YAML or JSON, or a bundled one: ${bundledExampleNames.join(', ')}.`,
  }),
  scenario: optionalSetting({
    flags: ['--scenario'],
    kind: path,
    noFile: true,
    changes: heldAtStart('It decides how the process ends. POST scenarios runs scenarios in a simulator that is up.'),
    doc: 'Scenario to run at the rate of the clock; its result is the exit code. See derbench run --help.',
  }),
  state_dir: optionalSetting({
    flags: ['--state_dir'],
    kind: folderPath,
    changes: heldAtStart('The state is restored from this folder before any part is built.'),
    doc: 'Folder in which the simulator keeps its state over a restart, also over kill -9; unset: nothing is kept.',
  }),
  settings_locked: setting({
    flags: ['--settings_locked'],
    kind: onOff,
    default: false,
    changes: heldAtStart('A request that could unlock the settings would make the lock useless.'),
    doc: 'Lets requests read the settings only: for a simulator that several people share.',
  }),
  history_samples: setting({
    flags: ['--history_samples'],
    kind: integer(100, 1_000_000),
    default: 10_000,
    changes: atStart('The memory of the samples is laid out for this number.'),
    doc: 'Samples that GET history keeps per device, one per tick; fewer when many devices share the memory.',
  }),
  state_history: setting({
    flags: ['--state_history'],
    kind: onOff,
    default: false,
    changes: atStart('A history on disk begins with the samples of the processes before.'),
    doc: 'Keeps the samples of GET history over a restart, in the folder of state_dir, in up to 128 MiB.',
  }),
  state_history_hours: setting({
    flags: ['--state_history_hours'],
    kind: integer(1, 744),
    default: 24,
    needs: 'state_history',
    changes: live,
    doc: 'Time for which state_history keeps samples, hours of real time.',
  }),
  captures: setting({
    flags: ['--captures'],
    kind: integer(0, captureBounds.captures),
    default: captureBounds.captures,
    changes: live,
    doc: 'Captures of disturbances that GET captures keeps, the latest; 0: none are recorded.',
  }),
  log_level: setting({
    flags: ['--log_level'],
    kind: choice(logLevels, 'LEVEL'),
    default: 'info',
    changes: live,
    doc: 'Lowest level of log entries that are printed.',
  }),
  log_format: setting({
    flags: ['--log_format'],
    kind: choice(['text', 'json'], 'FORMAT'),
    default: 'text',
    changes: live,
    doc: 'Format of the printed log.',
  }),
};

export const webSettings = {
  website_ip: setting({
    flags: ['-wi', '--website_ip'],
    kind: host,
    default: '127.0.0.1',
    changes: listener,
    doc: 'Address of the HTTP interface, which has no authentication.',
  }),
  website_port: setting({
    flags: ['-wp', '--website_port'],
    kind: port,
    default: 8111,
    changes: listener,
    doc: 'Port of the HTTP interface; 0 = any free port, which is printed at start.',
  }),
};

/** Access from browsers. */
export const browserSettings = {
  cors_origin: setting({
    flags: ['--cors_origin'],
    kind: originList,
    default: [],
    changes: access,
    doc: 'Web origin whose pages may call the HTTP interface from a browser.',
  }),
  allowed_host: setting({
    flags: ['--allowed_host'],
    kind: hostList,
    default: [],
    changes: access,
    doc: 'Additional host name under which clients may call the HTTP interface.',
  }),
};

export const webLimits = {
  ws_max_clients: setting({
    kind: integer(1, 65535),
    default: 1024,
    changes: live,
    doc: 'Maximum number of simultaneous clients of the telemetry stream.',
  }),
  http_max_connections: setting({
    kind: integer(1, 65535),
    default: 1024,
    changes: live,
    doc: 'Maximum number of simultaneous HTTP connections.',
  }),
};
