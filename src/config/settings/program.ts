/** Settings of the program itself: its configuration file, history and log. */
import { logLevels } from '../../core/log/log.ts';
import { bundledExampleNames, isBundledExample } from '../profile/bundled.ts';
import { setting, unset } from './setting.ts';
import { choice, integer, path, pathOrName } from './value-kinds.ts';

export const programSettings = {
  config: unset({
    flags: ['--config'],
    kind: pathOrName(isBundledExample, `a path, or a bundled configuration (${bundledExampleNames.join(', ')})`),
    noFile: true,
    doc: `Configuration file, YAML or JSON, or a bundled one: ${bundledExampleNames.join(', ')}.`,
  }),
  scenario: unset({
    flags: ['--scenario'],
    kind: path,
    noFile: true,
    doc: 'Scenario that is run at the rate of the clock; the process ends with its result. derbench run --help has more.',
  }),
  history_samples: setting({
    flags: ['--history_samples'],
    kind: integer(100, 1_000_000),
    default: 10_000,
    doc: 'Samples that GET history keeps per device, one per tick; fewer when many devices share the memory.',
  }),
  log_level: setting({
    flags: ['--log_level'],
    kind: choice(logLevels, 'LEVEL'),
    default: 'info',
    doc: 'Lowest level of log entries that are printed.',
  }),
  log_format: setting({
    flags: ['--log_format'],
    kind: choice(['text', 'json'], 'FORMAT'),
    default: 'text',
    doc: 'Format of the printed log.',
  }),
};
