import { useState } from 'preact/hooks';
import { anyCall, get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Form } from '../../../kit/form';
import type { Field, Values } from '../../../kit/form';
import { Chip, Facts, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { dash, sourceName, wallDate } from '../../../look/format';
import { useLive } from '../../../store/live';
import type { PartProps } from './state';

type Config = ReplyOf<'csip/config'>;

function fieldsOf(config: Config): readonly Field[] {
  return [
    { kind: 'text', name: 'server_host', label: 'Server', value: config.server_host ?? '' },
    { kind: 'number', name: 'server_port', label: 'Port', step: 1, value: config.server_port },
    { kind: 'text', name: 'dcap', label: 'DeviceCapability', value: config.dcap ?? '' },
    {
      kind: 'choice',
      name: 'revision',
      label: 'Revision of IEEE 2030.5',
      options: ['2018', '2023'],
      ...(config.revision !== null && { value: config.revision }),
    },
    {
      kind: 'number',
      name: 'poll_rate_s',
      label: 'Poll rate',
      unit: 's',
      value: config.poll_rate_s,
      hint: 'Empty: the rate of the server',
    },
    {
      kind: 'number',
      name: 'post_rate_s',
      label: 'Post rate',
      unit: 's',
      value: config.post_rate_s,
      hint: 'Empty: the rate of the server',
    },
    {
      kind: 'number',
      name: 'pin',
      label: 'PIN',
      secret: true,
      step: 1,
      hint: config.pin_set ? 'A PIN is set' : 'No PIN is set',
    },
    ...(config.identity === 'aggregator'
      ? [
          {
            kind: 'text',
            name: 'lfdi',
            label: 'LFDI of the device',
            value: config.lfdi ?? '',
            hint: 'Empty: derived from the LFDI of the aggregator',
          } as const,
        ]
      : []),
    { kind: 'check', name: 'tls', label: 'TLS', value: config.tls ?? false },
    {
      kind: 'check',
      name: 'use_server_time',
      label: 'Use the time of the server',
      value: config.use_server_time ?? false,
    },
    { kind: 'check', name: 'subscribe', label: 'Subscribe', value: config.subscribe ?? false },
  ];
}

/** Members that differ from the settings in force; an emptied rate or LFDI becomes null. */
function changesOf(config: Config, values: Values): Record<string, unknown> {
  const inForce = config as unknown as Readonly<Record<string, unknown>>;
  const changes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) if (value !== inForce[name]) changes[name] = value;
  for (const name of ['poll_rate_s', 'post_rate_s', 'lfdi'])
    if (values[name] === undefined && inForce[name] !== null) changes[name] = null;
  return changes;
}

/** Settings of the client, its certificate, and searches for servers. */
export function Settings({ device }: PartProps) {
  const query = { device };
  const { data: config } = useLive(get('csip/config', { query }), 5000);
  return (
    <div class="grid">
      {config && (
        <Panel title="Settings" wide>
          <div class="stack">
            <Facts
              rows={[
                ['Identity', config.identity],
                ['Host name is checked', config.check_hostname ? 'yes' : 'no'],
                ['CCM-8 only', config.strict_cipher ? 'yes' : 'no'],
                [
                  'Changed by',
                  config.changed_by === null
                    ? dash
                    : `${sourceName(config.changed_by.source)}, ${wallDate(config.changed_by.changed_at)}`,
                ],
              ]}
            />
            <Form
              empties
              fields={fieldsOf(config)}
              submit="Change settings"
              call={(values) => anyCall('POST', 'csip/config', query, changesOf(config, values))}
            />
          </div>
        </Panel>
      )}
      <Certificates device={device} />
      <Search device={device} />
    </div>
  );
}

/** The EndDevices to register at the server, with their identities. */
function Identities({ endDevices }: { readonly endDevices: ReplyOf<'csip/certificates'>['end_devices'] }) {
  return (
    <Table
      name="EndDevices to register"
      rows={endDevices}
      keyOf={({ lfdi }) => lfdi}
      empty="Without a certificate there is no LFDI."
      columns={[
        { title: 'Devices', value: (each) => each.device_indices.join(', ') },
        { title: 'LFDI', cell: ({ lfdi }) => <code>{lfdi}</code>, value: ({ lfdi }) => lfdi },
        { title: 'SFDI', value: ({ sfdi }) => sfdi },
      ]}
    />
  );
}

function Certificates({ device }: { readonly device: number }) {
  const query = { device };
  const { data } = useLive(get('csip/certificates', { query }), 5000);
  // a new form after success, so that the private key does not stay in the page
  const [round, setRound] = useState(0);
  return (
    <Panel title="Certificate" wide>
      <div class="stack">
        {data && (
          <Facts
            rows={[
              ['Selected', data.selected ?? dash],
              ['LFDI', <code>{data.lfdi ?? dash}</code>],
              ['SFDI', data.sfdi ?? dash],
              ['Subject', data.subject === null || data.subject === '' ? dash : data.subject],
              ['Issuer', data.issuer ?? dash],
              ['Valid', `${wallDate(data.not_before)} to ${wallDate(data.not_after)}`],
              ['Chain', data.chain_length ?? dash],
            ]}
          />
        )}
        {data && <Identities endDevices={data.end_devices} />}
        <div class="row">
          {data?.available.map((name) => (
            <Action
              key={name}
              call={post('csip/certificates', { query, body: { select: name } })}
              pressed={name === data.selected}
            >
              Use {name}
            </Action>
          ))}
        </div>
        <Form
          key={round}
          fields={[
            { kind: 'text', name: 'cert_pem', label: 'Certificate chain (PEM)', lines: 4 },
            { kind: 'text', name: 'key_pem', label: 'Key (PEM)', lines: 4, secret: true, hint: 'Never shown again' },
            { kind: 'text', name: 'root_cert_pem', label: 'Root certificate (PEM)', lines: 4 },
          ]}
          submit="Use this certificate"
          onDone={() => setRound(round + 1)}
          call={(values) => anyCall('POST', 'csip/certificates', query, values)}
        />
      </div>
    </Panel>
  );
}

function Search({ device }: { readonly device: number }) {
  const [probe, setProbe] = useState<ReplyOf<'csip/http-probe', 'post'> | null>(null);
  const [servers, setServers] = useState<ReplyOf<'csip/discover', 'post'> | null>(null);
  return (
    <Panel title="Probes" wide>
      <div class="stack">
        <Form
          fields={[
            { kind: 'text', name: 'path', label: 'Path', placeholder: '/dcap' },
            { kind: 'number', name: 'http_port', label: 'Port of plain HTTP', step: 1 },
          ]}
          submit="Send GET over plain HTTP"
          call={(values) => post('csip/http-probe', { query: { device }, body: values })}
          onDone={(answer) => setProbe(answer as typeof probe)}
        />
        {probe && (
          <Facts
            rows={[
              ['URL', probe.url],
              ['Status', probe.status],
              ['Location', probe.location ?? dash],
            ]}
          />
        )}
        <Action call={post('csip/discover', { body: {} })} onDone={(answer) => setServers(answer as typeof servers)}>
          Search for servers (DNS-SD)
        </Action>
        {servers && servers.servers.length === 0 && <p>No server has answered.</p>}
        {servers?.servers.map((server) => (
          <p key={server.name}>
            <Chip tone={server.permitted ? 'good' : 'warn'}>{server.permitted ? 'permitted' : 'not permitted'}</Chip>{' '}
            {server.name}: {server.host}:{server.https_port ?? server.port}
            {server.dcap ?? ''} ({server.addresses.join(', ')})
          </p>
        ))}
      </div>
    </Panel>
  );
}
