/** The way to a charging session at a central system in steps: station, central system, session. */
import { useState } from 'preact/hooks';
import { anyCall, get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action, useDo } from '../../../kit/action';
import { CopyButton } from '../../../kit/copies';
import { FieldInput, Form, FormFrame, submitting } from '../../../kit/form';
import { Chip, Empty, Facts, Panel } from '../../../kit/panel';
import { Loading } from '../../../kit/states';
import {
  changesOf,
  SettingInput,
  settingsOf,
  settingText,
  useSettings,
  whyLocked,
  withoutSecretValues,
} from '../../../kit/settings';
import type { Inputs } from '../../../kit/settings';
import { dash, show, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { href, param, replacePath, setParam } from '../../../store/route';
import { useOverview } from '../../../store/site';
import type { DeviceEntry } from '../../../store/site';
import { ChangeDialog } from '../../devices/change';
import { whyNot } from '../../devices/connector';
import { Concerned } from './concerned';
import { connectionTone } from './connection';
import type { ChargePoint } from './connection';

const versionKey = 'ocpp_version';
const fields: readonly (readonly [key: string, label: string])[] = [
  ['ocpp_csms_url', 'Central system'],
  ['ocpp_security_profile', 'Security profile'],
  ['ocpp_password', 'Password'],
];
const keys = [versionKey, ...fields.map(([key]) => key)];

const versions: readonly (readonly [version: ChargePoint['version'], label: string])[] = [
  ['ocpp1.6j', 'OCPP 1.6'],
  ['ocpp2.0.1j', 'OCPP 2.0.1'],
  ['ocpp2.1', 'OCPP 2.1'],
];

/** Steps from a charging station to a session at a central system. */
export function ConnectCentralSystem() {
  const devices = useOverview()?.devices;
  const stations = devices?.filter(({ charge_point_id: id }) => id !== null);
  const chargePoints = useLive(get('ocpp'), 1000).data?.charge_points;
  if (stations === undefined) return <Loading heights={[480]} />;
  const device = stations.find(({ charge_point_id: each }) => each === param('station')) ?? stations[0];
  const id = device?.charge_point_id ?? undefined;
  const status = chargePoints?.find((each) => each?.id === id) ?? null;
  return (
    <Panel title="Connect to my central system" wide>
      <ol class="steps">
        <li>
          <h3>Charging station</h3>
          <Station stations={stations} id={id} device={device} />
        </li>
        <li>
          <h3>Central system</h3>
          <CentralSystem stations={stations.length} />
          {status && <Outcome status={status} />}
        </li>
        <li>
          <h3>Session</h3>
          {id === undefined || status === null ? (
            <p class="muted">A session starts when the station is connected.</p>
          ) : (
            <Session id={id} />
          )}
        </li>
      </ol>
    </Panel>
  );
}

interface StationProps {
  readonly stations: readonly DeviceEntry[];
  readonly id: string | undefined;
  readonly device: DeviceEntry | undefined;
}

/** Identity under which the central system has to know the station. */
function Station({ stations, id, device }: StationProps) {
  const [changing, setChanging] = useState<DeviceEntry | null>(null);
  if (id === undefined)
    return (
      <div class="stack">
        <p>This simulator has no charging station yet.</p>
        <AddStation />
      </div>
    );
  return (
    <div class="stack">
      {stations.length > 1 && (
        <label class="row">
          <span class="muted">Station</span>
          <select value={id} onChange={(event) => setParam('station', event.currentTarget.value)}>
            {stations.map(({ name, charge_point_id: each }) => (
              <option key={each} value={each ?? ''}>
                {name}, {each}
              </option>
            ))}
          </select>
        </label>
      )}
      <Facts
        rows={[
          [
            'Identity',
            <span key="identity" class="row">
              <code>{id}</code>
              <CopyButton text={id} name="Identity" />
              <button type="button" class="quiet" onClick={() => setChanging(device ?? null)}>
                Change identity
              </button>
            </span>,
          ],
        ]}
      />
      {changing && (
        <ChangeDialog
          device={changing}
          only={['/ocpp', '/ocpp/id']}
          onClose={() => setChanging(null)}
          onDone={(changed) => setParam('station', changed.charge_point_id)}
        />
      )}
      <details>
        <summary>Another station</summary>
        <AddStation />
      </details>
    </div>
  );
}

function AddStation() {
  return (
    <Form
      fields={[{ kind: 'text', name: 'id', label: 'Identity', hint: 'Empty: the simulator names it.' }]}
      submit="Add a charging station"
      call={({ id }) =>
        post('devices', { body: { device_type: 'EVSE', ...(id !== undefined && { ocpp: { id: String(id) } }) } })
      }
      onDone={(device) => setParam('station', (device as ReplyOf<'devices', 'post'>).charge_point_id)}
    />
  );
}

/** @param stations number of them, all of which the settings are for */
function CentralSystem({ stations }: { readonly stations: number }) {
  const report = useSettings();
  const [inputs, setInputs] = useState<Inputs>({});
  const { busy, problem, run } = useDo();
  const settings = settingsOf(report?.settings ?? [], keys);
  if (report === undefined) return <Loading heights={[120]} />;
  const version = settings.find(({ key }) => key === versionKey);
  if (version === undefined) return <Empty>This simulator has no settings of OCPP.</Empty>;
  const changes = changesOf(settings, inputs);
  const callWith = (body: typeof changes) => post('ocpp/enable', { body });
  const onInput = (key: string, input: string | boolean) => setInputs((before) => ({ ...before, [key]: input }));
  const issueOf = (key: string) => problem?.about(`/${key}`) ?? null;
  const present = settingText(version.value);
  // a start may offer several versions
  const others = versions.some(([name]) => name === present) ? [] : [[present, present] as const];
  const connect = async () => {
    if ((await run(callWith(changes))) === undefined) return;
    setInputs({});
    replacePath('protocols/ocpp/connect');
  };
  return (
    <FormFrame
      onSubmit={submitting(connect)}
      submit="Connect"
      call={callWith(withoutSecretValues(settings, changes))}
      busy={busy}
      problem={problem}
      unable={whyLocked(report)}
    >
      <div class="fields">
        <FieldInput
          field={{
            kind: 'choice',
            name: versionKey,
            label: 'Version',
            value: present,
            options: [...others, ...versions],
          }}
          typed={inputs[versionKey] ?? present}
          issue={issueOf(versionKey)}
          onTyped={(input) => onInput(versionKey, input)}
        />
        {fields.flatMap(([key, label]) =>
          settingsOf(settings, [key]).map((setting) => (
            <SettingInput
              key={key}
              setting={setting}
              label={label}
              inputs={inputs}
              onInput={onInput}
              certificates={[]}
              issue={issueOf(key)}
            />
          )),
        )}
      </div>
      <Concerned />
      {stations > 1 && (
        <p class="muted">
          <i>Connect</i> connects each of them under its own identity. <a href={href('protocols/ocpp')}>State</a>{' '}
          disconnects single ones.
        </p>
      )}
    </FormFrame>
  );
}

function Outcome({ status }: { readonly status: ChargePoint }) {
  const { connection_state: state, boot_status: boot, last_error: error } = status;
  return (
    <Facts
      rows={[
        [
          'Connection',
          <Chip key="state" tone={connectionTone(state)}>
            {state}
          </Chip>,
        ],
        ['Boot', words(boot)],
        error === null ? null : ['Last error', error],
      ]}
    />
  );
}

/** Plugging in and authorising at the first connector. */
function Session({ id }: { readonly id: string }) {
  const connector = useLive(get('evse/{id}', { params: { id } }), 1000).data?.connectors[0];
  if (connector === undefined) return <Loading heights={[120]} />;
  const { connector_id: cid, session, status, power_kw: power } = connector;
  const call = (operation: string, body: object = {}) =>
    anyCall('POST', `evse/${encodeURIComponent(id)}/connectors/${cid}/${operation}`, {}, body);
  return (
    <div class="stack">
      <Facts
        rows={[
          [
            'Connector',
            <span key="status" data-test="connector-status">
              {words(status)}
            </span>,
          ],
          [
            'Session',
            session === null
              ? dash
              : `${session.transaction_id}: ${words(session.state)}, token ${session.id_token ?? dash}`,
          ],
          ['Power', show(power, 'activePower')],
        ]}
      />
      <Action call={call('plug')} unable={whyNot('plug', connector, true)}>
        Plug in a vehicle
      </Action>
      <Form
        fields={[{ kind: 'text', name: 'id_token', label: 'Token', value: 'DEMO-1' }]}
        call={(values) => call('authorize', values)}
        submit="Authorise"
        // a token would end a session that the station has begun by itself
        unable={whyNot('authorize', connector, false)}
      />
    </div>
  );
}
