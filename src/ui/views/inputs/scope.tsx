/** The scope of a change of grid or weather: all devices, a group, or one device. */
import { get } from '../../api/call';
import type { Call } from '../../api/call';
import { deviceLabel, DeviceSelect } from '../../kit/choices';
import { kindOf, kinds } from '../../kit/kind-icons';
import { timeOfDay, words } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import { useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';

export interface Scope {
  /** value of `on` in the address */
  readonly name: string;
  readonly title: string;
  /** undefined: what all devices have in common */
  readonly devices: readonly number[] | undefined;
}

const everything: Scope = { name: 'all', title: 'All devices', devices: undefined };

/** Groups of devices: kinds with several devices, and groups with limits of the site. */
function useGroups(): readonly Scope[] {
  const devices = useOverview()?.devices ?? [];
  const scopes = useLive(get('site/scopes'), 'once').data?.scopes ?? [];
  const ofKinds = Object.keys(kinds).map((kind): Scope => {
    const members = devices.filter(({ asset_type }) => asset_type === kind).map(({ device_index }) => device_index);
    return { name: `kind:${kind}`, title: `${kindOf(kind).title} (${members.length})`, devices: members };
  });
  const ofSite = scopes.flatMap(({ devices: members }): readonly Scope[] =>
    members === null ? [] : [{ name: members.join(), title: `Group ${members.join(', ')}`, devices: members }],
  );
  return [...ofKinds, ...ofSite].filter((scope) => (scope.devices?.length ?? 0) > 1);
}

/** The scope of the address as `on`; a removed device stays the scope, so that no command reaches another one. */
export function useScope(): Scope {
  const name = param('on') ?? everything.name;
  const group = useGroups().find((scope) => scope.name === name);
  const devices = useOverview()?.devices ?? [];
  if (group !== undefined) return group;
  if (!/^\d+(,\d+)*$/.test(name)) return everything;
  const members = name.split(',').map(Number);
  const titles = members.map((index) => {
    const device = devices.find(({ device_index }) => device_index === index);
    return device === undefined ? `Device ${index}` : deviceLabel(device);
  });
  return { name, title: titles.join(', '), devices: members };
}

/** Queries of the calls for a scope, one for each device of a group. */
export function queriesOf({ devices }: Scope): readonly { readonly device?: number }[] {
  return devices?.map((device) => ({ device })) ?? [{}];
}

/** Calls for each query of a scope. */
export function callsFor(scope: Scope, callOf: (query: { readonly device?: number }) => Call): readonly Call[] {
  return queriesOf(scope).map(callOf);
}

/** The devices of a scope. */
export function membersOf({ devices }: Scope, all: readonly DeviceEntry[]): readonly DeviceEntry[] {
  return devices === undefined ? all : all.filter(({ device_index }) => devices.includes(device_index));
}

/** Chooses what a tab acts on. */
export function ScopePicker() {
  const devices = useOverview()?.devices ?? [];
  const groups = useGroups();
  const scope = useScope();
  return (
    <DeviceSelect
      label="Acts on"
      name="on"
      devices={devices}
      value={scope.name}
      onChoice={(value) => setParam('on', value === everything.name ? null : value)}
      before={
        <>
          <option value={everything.name}>{everything.title}</option>
          {groups.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </>
      }
    />
  );
}

interface Change {
  readonly source: string;
  readonly source_detail: string | null;
  readonly changed_at: string | null;
}

/** Names of writers that are abbreviations. */
const writers: Readonly<Record<string, string>> = { rest: 'REST', csip: 'CSIP', ocpp: 'OCPP', dnp3: 'DNP3' };

/** The writer of a value and the time of the change. */
export function Writer({ by }: { readonly by: Change | null | undefined }) {
  if (!by) return <>not set since the start</>;
  return (
    <>
      {writers[by.source] ?? words(by.source)}
      {by.source_detail === null ? '' : ` ${by.source_detail}`} at {timeOfDay(by.changed_at)}
    </>
  );
}
