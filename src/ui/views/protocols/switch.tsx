/** Protocols switched on and off while the simulator runs. */
import type { ComponentChild } from 'preact';
import { useState } from 'preact/hooks';
import { anyCall, patch, post } from '../../api/call';
import type { Call } from '../../api/call';
import { Action, useDo } from '../../kit/action';
import { FormFrame, submitting } from '../../kit/form';
import { say } from '../../kit/notice';
import { Empty, Panel } from '../../kit/panel';
import {
  changesOf,
  SettingInput,
  useCertificates,
  useSettings,
  whyLocked,
  withKeys,
  withoutSecretValues,
} from '../../kit/settings';
import type { Inputs, SettingChanges } from '../../kit/settings';
import { href } from '../../store/route';
import { usePostText } from '../../store/schemas';
import { useOverview } from '../../store/site';
import type { Overview } from '../../store/site';
import { Concerned } from './ocpp/concerned';
import type { Part } from './page';
import { StartOnly } from './start-only';

/** A protocol with the settings that matter when it is switched on. */
export interface Protocol {
  readonly path: 'modbus' | 'csip' | 'ocpp' | 'dnp3';
  readonly title: string;
  /** setting that switches it on */
  readonly toggle: string;
  readonly fields: readonly (readonly [key: string, label: string])[];
  /** keys of all its settings */
  readonly keys: RegExp;
  /** devices that the settings are for */
  readonly concerned?: () => ComponentChild;
}

const protocols: readonly Protocol[] = [
  {
    path: 'modbus',
    title: 'Modbus TCP',
    toggle: 'mb_enable',
    keys: /^(mb|rtu)_/,
    fields: [
      ['mb_port', 'Port of the first device'],
      ['mb_shared_port', 'All devices at this port'],
      ['mb_enc', 'TLS'],
    ],
  },
  {
    path: 'csip',
    title: 'IEEE 2030.5',
    toggle: 'csip_client_enable',
    keys: /^csip_/,
    fields: [
      ['csip_server_ip', 'Server'],
      ['csip_server_port', 'Port'],
      ['csip_pin', 'PIN'],
      ['csip_cert', 'Certificate of the client'],
      ['csip_root_cert', 'Authority of the server'],
      ['csip_identity', 'Identity'],
    ],
  },
  {
    path: 'ocpp',
    title: 'OCPP',
    toggle: 'ocpp_enable',
    keys: /^ocpp_/,
    concerned: Concerned,
    fields: [
      ['ocpp_csms_url', 'Central system'],
      ['ocpp_version', 'Versions'],
      ['ocpp_security_profile', 'Security profile'],
      ['ocpp_password', 'Password'],
    ],
  },
  {
    path: 'dnp3',
    title: 'DNP3',
    toggle: 'dnp3_enable',
    keys: /^dnp3_/,
    fields: [
      ['dnp3_port', 'Port of the first device'],
      ['dnp3_outstation_addr', 'Address of the outstation'],
      ['dnp3_remote_addr', 'Addresses of the masters'],
      ['dnp3_shared_port', 'All outstations at this port'],
      ['dnp3_unsolicited', 'Unsolicited responses'],
    ],
  },
];

/** The protocol of a page, and whether it is on. Undefined: it has no switch, or its settings are not read yet. */
export function useProtocol(path: string) {
  const report = useSettings();
  const protocol = protocols.find((each) => each.path === path);
  const toggle = report?.settings.find(({ key }) => key === protocol?.toggle);
  if (report === undefined || protocol === undefined || toggle === undefined) return undefined;
  return { protocol, report, group: toggle.group, isOn: toggle.value === true };
}

type InUse = NonNullable<ReturnType<typeof useProtocol>>;

/** A few settings of a protocol, and the button that switches it on. */
export function SwitchOn(inUse: InUse) {
  const { path, title } = inUse.protocol;
  return (
    <SettingsPanel
      {...inUse}
      heading={`Switch on ${title}`}
      submit={`Switch on ${title}`}
      callWith={(changes) => anyCall('POST', `${path}/enable`, {}, changes)}
      done={`${title} is on.`}
    />
  );
}

/** The same settings of a protocol that is on; a change restarts its adapter. */
function ChangeSettings(inUse: InUse) {
  return (
    <SettingsPanel
      {...inUse}
      heading={`Settings of ${inUse.protocol.title}`}
      submit="Change"
      callWith={(changes) => patch('settings', { body: changes })}
      done="The settings are in force."
      needsChange
    />
  );
}

/** The settings of a protocol, whether it is on or off. */
export function settingsPart(path: Protocol['path']): Part {
  function ProtocolSettings() {
    const inUse = useProtocol(path);
    if (inUse === undefined) return <Empty>This simulator has no settings of the protocol.</Empty>;
    return inUse.isOn ? <ChangeSettings {...inUse} /> : <SwitchOn {...inUse} />;
  }
  return { path: 'settings', title: 'Settings', component: ProtocolSettings, switchesOn: true };
}

interface SettingsPanelProps extends InUse {
  readonly heading: string;
  readonly submit: string;
  readonly callWith: (changes: SettingChanges) => Call;
  /** said after the call */
  readonly done: string;
  readonly needsChange?: boolean;
}

function SettingsPanel({ protocol, report, group, heading, submit, callWith, done, needsChange }: SettingsPanelProps) {
  const { title, fields, keys, concerned: ConcernedBy } = protocol;
  const [inputs, setInputs] = useState<Inputs>({});
  const certificates = useCertificates() ?? [];
  const { busy, problem, run } = useDo();
  const settings = fields.flatMap(([key, label]) => {
    const setting = report.settings.find((each) => each.key === key);
    return setting === undefined ? [] : [{ setting, label }];
  });
  const all = settings.map(({ setting }) => setting);
  const changes = withKeys(changesOf(all, inputs));
  const send = async () => {
    if ((await run(callWith(changes))) === undefined) return;
    setInputs({});
    say(done);
  };
  const isSame = needsChange === true && Object.keys(changes).length === 0;
  return (
    <Panel title={heading} tools={<SettingsLink title={title} group={group} />}>
      <FormFrame
        onSubmit={submitting(send)}
        submit={submit}
        call={callWith(withoutSecretValues(all, changes))}
        busy={busy}
        problem={problem}
        unable={whyLocked(report)}
        disabled={isSame}
      >
        <div class="fields">
          {settings.map(({ setting, label }) => (
            <SettingInput
              key={setting.key}
              setting={setting}
              label={label}
              inputs={inputs}
              onInput={(key, input) => setInputs((before) => ({ ...before, [key]: input }))}
              certificates={certificates}
              issue={problem?.about(`/${setting.key}`) ?? null}
            />
          ))}
        </div>
        {ConcernedBy && <ConcernedBy />}
      </FormFrame>
      <StartOnly settings={report.settings.filter(({ key }) => keys.test(key))} />
    </Panel>
  );
}

function SettingsLink({ title, group }: { readonly title: string; readonly group: string }) {
  return <a href={href('settings', { 'settings-group': group })}>All settings of {title}</a>;
}

/** Number of connected peers of a protocol, over all its interfaces. */
export function peerCount(overview: Overview | undefined, path: string): number {
  const states = Object.entries(overview?.comm_status ?? {}).filter(([name]) => name.startsWith(path));
  return states.reduce((sum, [, { peers }]) => sum + peers, 0);
}

const cutText = (count: number) => (count === 1 ? ' One peer is cut off.' : ` ${count} peers are cut off.`);

/** The question before a protocol is switched off: what ends, and for how many peers. */
export function useOffQuestion({ path, title }: Protocol): string {
  const effect = usePostText(`${path}/disable`);
  const count = peerCount(useOverview(), path);
  return `Switch off ${title}? ${effect}${count === 0 ? '' : cutText(count)}`;
}

/** The button that switches a protocol off, after a question. */
export function SwitchOff({ protocol, report }: InUse) {
  const { path, title } = protocol;
  return (
    <div class="tools">
      <Action
        call={post(`${path}/disable`)}
        unable={whyLocked(report)}
        confirm={useOffQuestion(protocol)}
        onDone={() => say(`${title} is off.`)}
      >
        Switch off {title}
      </Action>
    </div>
  );
}
