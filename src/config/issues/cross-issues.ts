/** What is wrong across settings that are right by themselves. */
import type { AssetType } from '../../contract/device.ts';
import { kindTable } from '../../contract/kinds/table.ts';
import type { Issue } from '../../core/errors.ts';
import { highestUnitId } from '../../contract/modbus-report.ts';
import { typesOfKinds } from '../profile/device-types.ts';
import type { DeviceList } from '../profile/devices.ts';
import { refused, shown } from './issues.ts';
import { isGiven } from '../layers/gather.ts';
import type { Gathered } from '../layers/gather.ts';
import { kindsOfSetting } from '../profile/kind-overrides.ts';
import { lineIssues } from '../settings/modbus-lines.ts';
import { modbusTlsIssues } from '../settings/modbus-tls.ts';
import { settingOf } from '../settings/settings.ts';

/** What has no meaning while the simulated clock follows the real one. */
const ownClockKeys = ['time_rate', 'start_clock_time', 'start_date', 'start_paused'] as const;

function clockFaults({ values, originOf }: Gathered): Issue[] {
  if (!values.wall_clock) return [];
  return ownClockKeys
    .filter((key) => values[key] !== settingOf(key).default)
    .map((key) => {
      const given = values[key];
      return {
        name: originOf(key),
        detail: `given ${given === true ? 'yes' : given} together with ${originOf('wall_clock')} yes; allowed: one of the two`,
      };
    });
}

const highestPort = 65535;

function portFaults({ values, originOf }: Gathered, count: number): Issue[] {
  if (!values.mb_enable) return [];
  if (values.mb_shared_port) {
    if (count <= highestUnitId) return [];
    return [
      {
        name: originOf('mb_shared_port'),
        detail: `given yes with ${count} devices; allowed: up to ${highestUnitId} devices on one port`,
      },
    ];
  }
  const lastPort = values.mb_port + values.first_device + count - 1;
  if (values.mb_port === 0 || lastPort <= highestPort) return [];
  return [
    {
      name: originOf('mb_port'),
      detail: `given ${values.mb_port}, so that the last device would be on port ${lastPort}; allowed: a last port up to ${highestPort}, 0, or mb_shared_port`,
    },
  ];
}

/**
 * Flags for kinds of devices that are not there. In a file or in the environment they may stand ready for other runs.
 */
function kindFaults({ values, layers, originOf }: Gathered, kinds: ReadonlySet<AssetType>): Issue[] {
  const keys = Object.keys(kindsOfSetting) as (keyof typeof kindsOfSetting)[];
  const issues = keys.flatMap((key): Issue[] => {
    const wanted: readonly AssetType[] = kindsOfSetting[key];
    if (!layers.flags.has(key) || wanted.some((kind) => kinds.has(kind))) return [];
    const nobody = wanted.map((kind) => kindTable[kind].label).join(' or ');
    return [
      {
        name: originOf(key),
        detail: `given ${shown(values[key])}, but no ${nobody} is simulated; allowed: with device type ${typesOfKinds(wanted).join(', ')}`,
      },
    ];
  });
  if (values.f !== null && kinds.size === 1 && kinds.has('evse')) {
    issues.push({
      name: originOf('f'),
      detail: `given ${shown(values.f)}, but all devices are EVSE; allowed: --evse_profile`,
    });
  }
  return issues;
}

/** Faults between settings, and between them and the devices. */
export function crossIssues(gathered: Gathered, { count, kinds }: DeviceList): Issue[] {
  const { values, file, layers, originOf, io } = gathered;
  const issues = clockFaults(gathered);
  if (file?.devices && isGiven(gathered, 'N') && values.N !== count) {
    issues.push(
      refused(originOf('N'), values.N, `${count}, the number of devices listed in ${file.label}, or nothing`),
    );
  }
  if (file?.grid.profile !== undefined && layers.file.has('grid_profile')) {
    issues.push({ name: `${file.label}: grid.profile`, detail: 'given beside grid_profile; allowed: one of the two' });
  }
  issues.push(...portFaults(gathered, count), ...lineIssues(gathered, count), ...modbusTlsIssues(gathered));
  for (const key of ['dc_profile', 'load_profile', 'vehicles', 'grid_profile'] as const) {
    const path = values[key];
    if (path !== null && !io.isFile(path)) issues.push(refused(originOf(key), path, 'the path of a file that exists'));
  }
  if (gathered.kindsKnown) issues.push(...kindFaults(gathered, kinds));
  return issues;
}
