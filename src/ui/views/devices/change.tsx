/** The form that changes a device, and its members as the form of a new device has them too. */
import { useState } from 'preact/hooks';
import { get, patch } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Refused, useDo } from '../../kit/action';
import { FormFrame, submitting, typedSince } from '../../kit/form';
import { Dialog } from '../../kit/panel';
import { objectOf, SchemaFields } from '../../kit/schema-form';
import type { Schema, Typed } from '../../kit/schema-form';
import { words } from '../../look/format';
import { settled, useLive } from '../../store/live';
import { useSchema } from '../../store/schemas';
import { useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';

type Detail = ReplyOf<'devices/{index}'>;
type Changed = ReplyOf<'devices/{index}', 'patch'>;

/** Members that have a field, by their pointers in the body, with labels. */
const labels: Readonly<Record<string, string>> = {
  '/device_type': 'Type',
  '/name': 'Name',
  '/profile': 'Profile',
  '/evse_profile': 'Profile of a charging station',
  '/ocpp': 'OCPP',
  '/ocpp/id': 'Identity',
  '/ocpp/version': 'Version',
  '/ocpp/url': 'Central system',
  '/csip': 'IEEE 2030.5',
  '/csip/nmi': 'NMI',
  '/csip/lfdi': 'LFDI',
  '/csip/pin': 'PIN',
  '/dnp3': 'DNP3',
  '/dnp3/address': 'Address',
  '/dnp3/port': 'Port',
  '/dnp3/profile': 'Point map',
  '/modbus': 'Modbus TCP',
  '/modbus/port': 'Port',
  '/modbus/unit_id': 'Unit id',
};

const adapters = { '/ocpp': 'ocpp', '/csip': 'csip', '/dnp3': 'dnp3', '/modbus': 'modbus_tcp' } as const;
const isBlock = (pointer: string): pointer is keyof typeof adapters => pointer in adapters;

/** The daemon refuses them while OCPP is switched off. */
const refusedWithoutOcpp = ['/ocpp/version', '/ocpp/url'];

const pinPointer = '/csip/pin';

/** The texts for the curl command, which would show the PIN. */
export function withoutPin<T extends Typed>(typed: T): T {
  return typed[pinPointer] ? { ...typed, [pinPointer]: '...' } : typed;
}

/** Adapts a member to a form; null leaves it out. */
type Fit = (pointer: string, member: Schema) => Schema | null;

/** The members with a field. A profile that may also be an object, and versions that may also be a list, are chosen by name. */
function membersOf({ properties = {} }: Schema, fit: Fit, under = ''): Schema {
  const members = Object.entries(properties).flatMap(([name, whole]): [string, Schema][] => {
    const pointer = `${under}/${name}`;
    const title = labels[pointer];
    if (title === undefined) return [];
    const { description = '' } = whole;
    const named = { ...(whole.anyOf?.find(({ enum: options }) => options) ?? whole), title, description };
    const member = fit(pointer, named);
    if (member === null) return [];
    return [[name, member.properties ? { ...member, ...membersOf(member, fit, pointer) } : member]];
  });
  return { type: 'object', properties: Object.fromEntries(members) };
}

/** Profiles of charging stations fit stations alone. */
function profilesFor(isStation: boolean, { enum: names = [] }: Schema, whole: Schema | undefined): readonly unknown[] {
  const ofStations = whole?.properties?.['evse_profile']?.enum ?? [];
  return names.filter((name) => ofStations.includes(name) === isStation);
}

/** Schema of the members that fit a device and the protocols that are on. */
export function useDeviceSchema(isStation: boolean, fit: Fit) {
  const { schema: whole, problem } = useSchema('AddedDevice');
  const states = useOverview()?.comm_status;
  const isOff = (block: keyof typeof adapters) => states?.[adapters[block]].enabled === false;
  const fitAll: Fit = (pointer, member) => {
    if (pointer === '/ocpp' && !isStation) return null;
    if (refusedWithoutOcpp.includes(pointer) && isOff('/ocpp')) return null;
    if (pointer === '/profile') return fit(pointer, { ...member, enum: profilesFor(isStation, member, whole) });
    if (pointer === pinPointer) return fit(pointer, { ...member, writeOnly: true });
    if (isBlock(pointer) && isOff(pointer))
      return fit(pointer, { ...member, title: `${labels[pointer] ?? ''} (switched off)` });
    return fit(pointer, member);
  };
  return { schema: whole && membersOf(whole, fitAll), problem };
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The values in force, by pointer. */
function textsOf({ device_profile_name: profile, ...detail }: Detail): Readonly<Record<string, string>> {
  const values: Readonly<Record<string, unknown>> = { ...detail, profile };
  return Object.fromEntries(
    Object.keys(labels).map((pointer) => {
      const [name = '', member = ''] = pointer.slice(1).split('/');
      const block = values[name] as Readonly<Record<string, unknown>> | null | undefined;
      return [pointer, textOf(member === '' ? values[name] : block?.[member])];
    }),
  );
}

/** The edited texts that differ from the present ones; an emptied field goes back to its default with null. */
function changesOf(present: Typed, typed: Typed): Typed {
  const edited = Object.entries(typed).filter(([pointer, text]) => text !== present[pointer]);
  return Object.fromEntries(edited.map(([pointer, text]) => [pointer, text === '' ? null : text]));
}

/** A choice with the present value, which may be none of the bundled names, and with the default. */
function withPresent(member: Schema, present: string): Schema {
  if (!member.enum || present === '') return member;
  return { ...member, enum: ['', ...new Set([present, ...member.enum])], optionTexts: { '': 'default' } };
}

function fitOf({ csip }: Detail, present: Readonly<Record<string, string>>): Fit {
  return (pointer, member) => {
    switch (pointer) {
      case '/device_type':
      case '/evse_profile':
        return null;
      case pinPointer:
        return csip.pin_set
          ? { ...member, type: ['integer', 'null'], description: `Set. ${member.description ?? ''}` }
          : member;
      default:
        return withPresent(member, present[pointer] ?? '');
    }
  };
}

function outcomeText({ device_index: index, name, device_restarted: isNew, restarted }: Changed): string {
  return [
    `Changed device ${index} ${name}.`,
    ...(isNew ? ['Another device has taken its place.'] : []),
    restarted.length === 0 ? 'Nothing was restarted.' : `Restarted: ${restarted.map(words).join(', ')}.`,
  ].join(' ');
}

interface ChangeProps {
  readonly device: DeviceEntry;
  readonly onClose: () => void;
  /** pointers of the members; absent: all that fit the device */
  readonly only?: readonly string[];
  readonly onDone?: (changed: Changed) => void;
}

/** The dialog that changes a device. */
export function ChangeDialog(props: ChangeProps) {
  const { device_index: index, name } = props.device;
  const { data, problem } = useLive(get('devices/{index}', { params: { index } }), 3000);
  return (
    <Dialog title={`Change device ${index} ${name}`} onClose={props.onClose}>
      <Refused problem={problem} />
      {data && <ChangeForm {...props} detail={data} />}
    </Dialog>
  );
}

function ChangeForm({ device, detail, only, onDone }: ChangeProps & { readonly detail: Detail }) {
  const { device_index: index, name, asset_type: kind } = device;
  const present = textsOf(detail);
  const fit = fitOf(detail, present);
  const { schema, problem: readProblem } = useDeviceSchema(kind === 'evse', (pointer, member) =>
    only === undefined || only.includes(pointer) ? fit(pointer, member) : null,
  );
  const [typed, setTyped] = useState<Typed>({});
  const [outcome, setOutcome] = useState<string | null>(null);
  const { busy, problem, run } = useDo<Changed>();
  const changes = changesOf(present, typed);
  const callWith = (texts: Typed) =>
    patch('devices/{index}', { params: { index }, body: objectOf(schema ?? {}, texts) });
  const question =
    `Change the profile of device ${index} ${name}? Another device takes its place: registers, settings, energies, ` +
    'history, commands, holds, faults and sessions begin anew.';
  const send = async () => {
    if ('/profile' in changes && !confirm(question)) return;
    const answer = await run(callWith(changes));
    if (answer === undefined) return;
    // the next edits are compared with the values in force
    await settled(get('devices/{index}', { params: { index } }));
    setTyped((before) => typedSince(before, typed));
    setOutcome(outcomeText(answer));
    onDone?.(answer);
  };
  const enter = (pointer: string, text: string | null) => {
    setOutcome(null);
    setTyped((before) => ({ ...before, [pointer]: text }));
  };
  return (
    <FormFrame
      onSubmit={submitting(send)}
      submit="Change"
      call={callWith(withoutPin(changes))}
      busy={busy}
      problem={null}
      disabled={Object.keys(changes).length === 0}
      beside={
        outcome !== null && (
          <span class="good" role="status">
            {outcome}
          </span>
        )
      }
    >
      <Refused problem={problem ?? readProblem} />
      <p class="muted">Only what you edit is sent. An emptied field goes back to its default.</p>
      {schema && (
        <SchemaFields
          schema={schema}
          typed={typed}
          start={present}
          onTyped={enter}
          onNone={(pointer) => enter(pointer, null)}
          issueOf={(pointer) => problem?.about(pointer) ?? null}
        />
      )}
    </FormFrame>
  );
}
