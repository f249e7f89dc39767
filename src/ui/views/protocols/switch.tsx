/** Protocols switched on and off while the simulator runs. */
import { useState } from 'preact/hooks';
import { anyCall, post } from '../../api/call';
import { Action, useDo } from '../../kit/action';
import { FormFrame, submitting } from '../../kit/form';
import { say } from '../../kit/notice';
import { Panel } from '../../kit/panel';
import {
  changesOf,
  SettingInput,
  useCertificates,
  useSettings,
  whyLocked,
  withKeys,
  withoutSecretValues,
} from '../../kit/settings';
import type { Inputs } from '../../kit/settings';
import { href } from '../../store/route';
import { usePostText } from '../../store/schemas';

/** A protocol with the settings that matter when it is switched on. */
interface Protocol {
  readonly path: 'modbus' | 'csip' | 'ocpp' | 'dnp3';
  readonly title: string;
  /** setting that switches it on */
  readonly toggle: string;
  readonly fields: readonly (readonly [key: string, label: string])[];
}

const protocols: readonly Protocol[] = [
  {
    path: 'modbus',
    title: 'Modbus TCP',
    toggle: 'mb_enable',
    fields: [
      ['mb_port', 'Port of the first device'],
      ['mb_shared_port', 'All devices at this port'],
    ],
  },
  {
    path: 'csip',
    title: 'IEEE 2030.5',
    toggle: 'csip_client_enable',
    fields: [
      ['csip_server_ip', 'Server'],
      ['csip_server_port', 'Port'],
      ['csip_enc', 'TLS'],
      ['csip_cert', 'Certificate of the client'],
      ['csip_root_cert', 'Authority of the server'],
      ['csip_identity', 'Identity'],
    ],
  },
  {
    path: 'ocpp',
    title: 'OCPP',
    toggle: 'ocpp_enable',
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
    fields: [
      ['dnp3_port', 'Port of the first device'],
      ['dnp3_outstation_addr', 'Address of the outstation'],
      ['dnp3_remote_addr', 'Addresses of the masters'],
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
export function SwitchOn({ protocol, report, group }: InUse) {
  const { path, title, fields } = protocol;
  const [inputs, setInputs] = useState<Inputs>({});
  const certificates = useCertificates() ?? [];
  const { busy, problem, run } = useDo();
  const settings = fields.flatMap(([key, label]) => {
    const setting = report.settings.find((each) => each.key === key);
    return setting === undefined ? [] : [{ setting, label }];
  });
  const all = settings.map(({ setting }) => setting);
  const changes = withKeys(changesOf(all, inputs));
  const callWith = (body: typeof changes) => anyCall('POST', `${path}/enable`, {}, body);
  const send = async () => {
    if ((await run(callWith(changes))) !== undefined) say(`${title} is on.`);
  };
  return (
    <Panel title={`Switch on ${title}`} tools={<SettingsLink title={title} group={group} />}>
      <FormFrame
        onSubmit={submitting(send)}
        submit={`Switch on ${title}`}
        call={callWith(withoutSecretValues(all, changes))}
        busy={busy}
        problem={problem}
        unable={whyLocked(report)}
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
      </FormFrame>
    </Panel>
  );
}

function SettingsLink({ title, group }: { readonly title: string; readonly group: string }) {
  return <a href={href('settings', { 'settings-group': group })}>Settings of {title}</a>;
}

/** A link to the settings of a protocol that is on, and the button that switches it off. */
export function SwitchOff({ protocol, report, group }: InUse) {
  const { path, title } = protocol;
  const effect = usePostText(`${path}/disable`);
  return (
    <div class="row">
      <SettingsLink title={title} group={group} />
      <Action
        call={post(`${path}/disable`)}
        unable={whyLocked(report)}
        confirm={`Switch off ${title}? ${effect}`}
        onDone={() => say(`${title} is off.`)}
      >
        Switch off {title}
      </Action>
    </div>
  );
}
