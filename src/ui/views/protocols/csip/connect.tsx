/** The way to a head-end in steps: certificate, registration, server, connection. */
import { useState } from 'preact/hooks';
import { get, post } from '../../../api/call';
import { Action, Refused, useDo } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import { CopyButton, TextToTake } from '../../../kit/copies';
import { FieldInput } from '../../../kit/form';
import { Chip, Empty, Facts, Panel } from '../../../kit/panel';
import { Loading } from '../../../kit/states';
import {
  certificateNameOf,
  certificateValue,
  changesOf,
  SettingInput,
  settingsOf,
  settingText,
  useCertificates,
  useSettings,
  whyLocked,
  withKeys,
  withoutSecretValues,
} from '../../../kit/settings';
import type { Certificate, Inputs, Setting } from '../../../kit/settings';
import { dash, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { replacePath } from '../../../store/route';
import { useDevice, useOverview } from '../../../store/site';
import { DiagnosticsTable, stateTone } from './state';

const certificateKey = 'csip_cert';
const authorityKey = 'csip_root_cert';
const identityKey = 'csip_identity';
const serverFields: readonly (readonly [key: string, label: string])[] = [
  ['csip_server_ip', 'Server'],
  ['csip_server_port', 'Port'],
  ['csip_enc', 'TLS'],
  ['csip_pin', 'PIN, if any'],
];
const keys = [certificateKey, authorityKey, identityKey, ...serverFields.map(([key]) => key)];

/** Name under which the authority of a head-end is kept. */
const authorityName = 'head-end-root';

/** The first certificate that suits the identity: generated ones are named after what presents them. */
function suitable(all: readonly Certificate[], isShared: boolean): Certificate | undefined {
  const clients = all.filter(({ lfdi, has_key: hasKey }) => lfdi !== null && hasKey);
  const ending = isShared ? 'aggregator' : 'device0';
  return clients.find(({ name }) => name.endsWith(ending)) ?? clients[0];
}

/** The root that a certificate descends from, as far as the store has it. @param maxSteps authorities may issue each other */
function rootOf({ issuer }: Certificate, all: readonly Certificate[], maxSteps = all.length): Certificate | undefined {
  const authority = all.find(({ kind, subject }) => kind === 'ca' && subject === issuer);
  const isRoot = authority === undefined || authority.subject === authority.issuer || maxSteps === 0;
  return isRoot ? authority : rootOf(authority, all, maxSteps - 1);
}

/** A name that the store does not have yet. */
function freeName(all: readonly Certificate[]): string {
  const names = new Set(all.map(({ name }) => name));
  let free = authorityName;
  for (let count = 2; names.has(free); count += 1) free = `${authorityName}-${count}`;
  return free;
}

/** Typed inputs; other settings that have their defaults get values that fit the certificates of the store. */
function withDefaults(
  typed: Inputs,
  settings: readonly Setting[],
  all: readonly Certificate[],
  deviceCount: number,
): Inputs {
  const presentOf = (key: string) => settings.find((setting) => setting.key === key);
  const isUnset = (key: string) => typed[key] === undefined && presentOf(key)?.origin === 'default';
  const inputs: Record<string, string | boolean | null> = { ...typed };
  // several devices of one certificate are behind an aggregator
  if (isUnset(identityKey) && deviceCount > 1) inputs[identityKey] = 'aggregator';
  const isShared = (inputs[identityKey] ?? settingText(presentOf(identityKey)?.value ?? null)) !== 'per_device';
  const certificate = suitable(all, isShared);
  if (isUnset(certificateKey) && certificate) inputs[certificateKey] = certificateValue(certificate.name);
  const chosen = all.find(({ name }) => name === certificateNameOf(chosenText(inputs, settings)));
  const root = chosen && rootOf(chosen, all);
  if (isUnset(authorityKey) && root) inputs[authorityKey] = certificateValue(root.name);
  return inputs;
}

/** Value of the certificate of the client: as typed, otherwise as in force. */
function chosenText(inputs: Inputs, settings: readonly Setting[]): string {
  const typed = inputs[certificateKey];
  if (typeof typed === 'string') return typed;
  return settingText(settings.find(({ key }) => key === certificateKey)?.value ?? null);
}

/** Steps from a certificate to a registered client. */
export function ConnectHeadEnd() {
  const report = useSettings();
  const certificates = useCertificates();
  const deviceCount = useOverview()?.devices.length ?? 1;
  const [typed, setTyped] = useState<Inputs>({});
  const [authority, setAuthority] = useState('');
  const settings = settingsOf(report?.settings ?? [], keys);
  if (report === undefined || certificates === undefined) return <Loading heights={[480]} />;
  if (settings.length === 0) return <Empty>This simulator has no settings of IEEE 2030.5.</Empty>;
  const isOn = report.settings.some(({ key, value }) => key === 'csip_client_enable' && value === true);
  const inputs = withDefaults(typed, settings, certificates, deviceCount);
  return (
    <Panel title="Connect to my head-end" wide>
      <Steps
        settings={settings}
        certificates={certificates}
        deviceCount={deviceCount}
        inputs={inputs}
        onInput={(key, input) => setTyped((before) => ({ ...before, [key]: input }))}
        authority={authority}
        onAuthority={setAuthority}
        onConnected={() => {
          setTyped({});
          setAuthority('');
        }}
        unable={whyLocked(report)}
        isOn={isOn}
      />
    </Panel>
  );
}

interface StepsProps {
  readonly settings: readonly Setting[];
  readonly certificates: readonly Certificate[];
  readonly deviceCount: number;
  readonly inputs: Inputs;
  readonly onInput: (key: string, input: string | boolean) => void;
  /** PEM of the authority of the head-end; empty: the chosen one */
  readonly authority: string;
  readonly onAuthority: (pem: string) => void;
  readonly onConnected: () => void;
  readonly unable: string | null;
  readonly isOn: boolean;
}

function Steps(props: StepsProps) {
  const { settings, certificates, deviceCount, inputs, onInput, authority, onAuthority, onConnected, unable, isOn } =
    props;
  const adding = useDo();
  const { busy, problem, run } = useDo();
  const chosen = certificates.find(({ name }) => name === certificateNameOf(chosenText(inputs, settings)));
  const field = (key: string, label: string) =>
    settingsOf(settings, [key]).map((setting) => (
      <SettingInput
        key={key}
        setting={setting}
        label={label}
        inputs={inputs}
        onInput={onInput}
        certificates={certificates}
        issue={problem?.about(`/${key}`) ?? null}
      />
    ));
  const name = freeName(certificates);
  const isAdded = authority.trim() !== '';
  const changes = withKeys(
    changesOf(settings, isAdded ? { ...inputs, [authorityKey]: certificateValue(name) } : inputs),
  );
  const callWith = (body: typeof changes) => post('csip/enable', { body });
  const connect = async () => {
    if (isAdded) {
      const added = await adding.run(post('certificates', { body: { name, cert_pem: authority } }));
      if (added === undefined) return;
      onAuthority('');
      onInput(authorityKey, certificateValue(name));
    }
    if ((await run(callWith(changes))) === undefined) return;
    replacePath('protocols/csip/connect');
    onConnected();
  };
  const whyNot = unable ?? (isOn && Object.keys(changes).length === 0 ? 'These settings are in force' : null);
  return (
    <ol class="steps">
      <li>
        <h3>Certificate</h3>
        <div class="form">
          <div class="fields">
            {deviceCount > 1 && field(identityKey, 'Identity')}
            {field(certificateKey, 'Certificate of the client')}
          </div>
        </div>
        <Action call={post('certificates/generate', { body: { devices: Math.min(deviceCount, 64) } })}>
          Generate test certificates
        </Action>
      </li>
      <li>
        <h3>Register at the head-end</h3>
        {chosen === undefined ? (
          <p class="muted">The LFDI follows from the certificate: generate or choose one above.</p>
        ) : (
          <Registration certificate={chosen} root={rootOf(chosen, certificates)} />
        )}
      </li>
      <li>
        <h3>Server</h3>
        <div class="form">
          <div class="fields">
            {serverFields.flatMap(([key, label]) => field(key, label))}
            {field(authorityKey, 'Authority of the server')}
          </div>
          <FieldInput
            field={{
              kind: 'text',
              name: 'authority_pem',
              label: 'Root certificate of the head-end (PEM)',
              lines: 3,
              hint: 'Empty: the authority chosen above. It is kept under Certificates.',
            }}
            typed={authority}
            issue={adding.problem?.about('/cert_pem') ?? null}
            onTyped={(pem) => onAuthority(String(pem))}
          />
        </div>
      </li>
      <li>
        <h3>Connect</h3>
        <div class="row">
          <button
            type="button"
            class="primary"
            disabled={busy || adding.busy || whyNot !== null}
            title={whyNot ?? undefined}
            onClick={() => void connect()}
          >
            Connect
          </button>
          <CallLine call={callWith(withoutSecretValues(settings, changes))} />
          {whyNot !== null && <small class="muted">{whyNot}</small>}
        </div>
        <Refused problem={problem ?? adding.problem} />
        {isOn && <Outcome />}
      </li>
    </ol>
  );
}

/** Identities and certificates with which a head-end registers the client. */
function Registration({
  certificate,
  root,
}: {
  readonly certificate: Certificate;
  readonly root: Certificate | undefined;
}) {
  const { name, lfdi, sfdi } = certificate;
  return (
    <div class="stack">
      <Facts
        rows={[
          ['LFDI', <Identity name="LFDI" text={lfdi} />],
          ['SFDI', <Identity name="SFDI" text={sfdi} />],
        ]}
      />
      <Pem name={name} title="Certificate of the client" />
      {root && <Pem name={root.name} title="Authority of the client" />}
    </div>
  );
}

function Identity({ name, text }: { readonly name: string; readonly text: string | null }) {
  if (text === null) return <>{dash}</>;
  return (
    <span class="row">
      <code data-test={name}>{text}</code>
      <CopyButton text={text} name={name} />
    </span>
  );
}

function Pem({ name, title }: { readonly name: string; readonly title: string }) {
  const { data, problem } = useLive(get('certificates/{name}', { params: { name } }), 'once');
  if (data === undefined) return <Refused problem={problem} />;
  return <TextToTake text={data.cert_pem} name={title} file={`${name}.pem`} />;
}

/** State of the connection with its diagnostics. */
function Outcome() {
  const device = useDevice()?.device_index;
  const { data: status } = useLive(device === undefined ? null : get('csip/status', { query: { device } }), 1000);
  if (device === undefined || !status) return null;
  const { connection, end_device: endDevice } = status;
  return (
    <div class="stack">
      <Facts
        rows={[
          ['State', <Chip tone={stateTone(status.state)}>{words(status.state)}</Chip>],
          ['EndDevice', endDevice === null ? 'not shown by the server yet' : <code>{endDevice.href}</code>],
          connection.last_error === null ? null : ['Last error', connection.last_error],
        ]}
      />
      <div class="row">
        <Action call={post('csip/poll', { query: { device } })} title="Reads the resources of the server at once">
          Poll
        </Action>
      </div>
      <DiagnosticsTable device={device} />
    </div>
  );
}
