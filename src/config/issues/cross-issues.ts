/** Issues across settings that are valid by themselves. */
import type { AssetType } from '../../contract/device.ts';
import { kindTable } from '../../contract/kinds/table.ts';
import type { Issue } from '../../core/errors.ts';
import type { Gathered } from '../layers/gather.ts';
import { typesOfKinds } from '../profile/device-types.ts';
import type { DeviceList } from '../profile/devices.ts';
import type { AppConfig } from '../settings/app-config.ts';
import { settingKeys, settingOf } from '../settings/settings.ts';
import type { SettingKey } from '../settings/settings.ts';
import type { RestartableAdapter } from '../../contract/settings.ts';
import { protocolsOf } from '../../contract/device-protocols.ts';
import { conflictIssues } from './conflicts.ts';
import { outboundIssues } from './outbound-issues.ts';
import { placeIssues } from './place-issues.ts';
import type { PlaceSettings } from './place-issues.ts';
import { csipOf, dnp3Of, modbusOf } from '../layers/protocols.ts';
import { portIssues } from './port-issues.ts';
import {
  csipFileIssues,
  chargePointIdIssues,
  ocppFileIssues,
  dnp3PointsIssues,
  dnp3TlsIssues,
  modbusTlsIssues,
} from './protocol-issues.ts';
import { refused, quoted } from './issues.ts';

/**
 * Issues of flags for kinds that no device has: files and environment variables may have such settings for other runs,
 * except `f` where all devices are EVSE.
 */
function kindIssues({ values, layers, originOf }: Gathered, kinds: ReadonlySet<AssetType>): Issue[] {
  const issues = settingKeys.flatMap((key): Issue[] => {
    const { kinds: ofSetting } = settingOf(key);
    if (ofSetting === undefined || !layers.flags.has(key) || ofSetting.some((kind) => kinds.has(kind))) return [];
    const kindLabels = ofSetting.map((kind) => kindTable[kind].label).join(' or ');
    const types = typesOfKinds(ofSetting).join(', ');
    return [
      {
        name: originOf(key),
        detail: `given ${quoted(values[key])}, but no ${kindLabels} is simulated; allowed: with device type ${types}`,
      },
    ];
  });
  if (values.f !== null && kinds.size === 1 && kinds.has('evse')) {
    issues.push({
      name: originOf('f'),
      detail: `given ${quoted(values.f)}, but all devices are EVSE; allowed: --evse_profile`,
    });
  }
  return issues;
}

type Opened = ReadonlySet<RestartableAdapter> | undefined;

/** The adapter that a setting belongs to; undefined: none. */
function adapterOf(key: SettingKey): RestartableAdapter | undefined {
  const { changes, needs } = settingOf(key);
  return changes.by === 'adapter' ? changes.adapter : needs && adapterOf(needs);
}

function missingFiles({ values, originOf, io }: Gathered, opened: Opened): Issue[] {
  return settingKeys.flatMap((key) => {
    const path = values[key];
    if (settingOf(key).mustExist !== true || typeof path !== 'string') return [];
    const adapter = adapterOf(key);
    if ((opened && !(adapter && opened.has(adapter))) || io.isFile(path)) return [];
    return [refused(originOf(key), path, 'the path of a file that exists')];
  });
}

const placeSettings = (gathered: Gathered): PlaceSettings => ({
  modbus: modbusOf(gathered.values),
  dnp3: dnp3Of(gathered.values),
  csip: csipOf(gathered),
  firstDevice: gathered.values.first_device,
});

/**
 * Issues between settings, and between settings and devices.
 * @param proxy null: no proxy, or its map cannot be read
 * @param opened adapters that open, whose files are read; undefined: all files, as at a start
 */
export function crossIssues(
  gathered: Gathered,
  { devices, count, kinds }: DeviceList,
  proxy: AppConfig['proxy'],
  opened?: Opened,
): Issue[] {
  const opens = (adapter: RestartableAdapter) => opened?.has(adapter) ?? true;
  const first = gathered.values.first_device;
  // invalid devices are left out, which would shift the indexes
  const isWhole = devices.length === count;
  const places = Array.from({ length: count }, (_, at) => ({
    index: first + at,
    ...(isWhole && protocolsOf(devices[at] ?? {})),
  }));
  const conflicts = conflictIssues(gathered, places);
  const issues = [
    ...conflicts,
    ...portIssues(gathered, places, proxy),
    ...outboundIssues(gathered),
    ...(opens('modbus') ? modbusTlsIssues(gathered) : []),
    ...(opens('dnp3') ? [...dnp3TlsIssues(gathered), ...dnp3PointsIssues(gathered)] : []),
    ...missingFiles(gathered, opened),
  ];
  // conflicting settings leave open which files are used
  const hasFiles = conflicts.length === 0;
  if (hasFiles && opens('csip')) issues.push(...csipFileIssues(gathered, count));
  if (hasFiles && opens('ocpp')) issues.push(...ocppFileIssues(gathered));
  if (isWhole) issues.push(...chargePointIdIssues(gathered, devices), ...placeIssues(placeSettings(gathered), places));
  if (gathered.kindsKnown) issues.push(...kindIssues(gathered, kinds));
  return issues;
}
