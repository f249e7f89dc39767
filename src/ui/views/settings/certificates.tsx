/** Certificates that the simulator keeps by name. */
import { useState } from 'preact/hooks';
import { del, get, post } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { CopyButton, TextToTake } from '../../kit/copies';
import { Form } from '../../kit/form';
import type { Field } from '../../kit/form';
import { Chip, Facts, Panel } from '../../kit/panel';
import { useCertificates } from '../../kit/settings';
import type { Certificate } from '../../kit/settings';
import { Table } from '../../kit/table';
import { dash } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';

const kinds: Readonly<Record<Certificate['kind'], string>> = { device: 'client', server: 'server', ca: 'authority' };

const day = (iso: string) => iso.slice(0, 10);

export function Certificates() {
  const all = useCertificates();
  const chosen = all?.find(({ name }) => name === param('certificate'));
  return (
    <div class="grid">
      <Panel title="Certificates" flush wide tools={<span class="muted">Keys never leave the simulator.</span>}>
        <Table<Certificate>
          name="Certificates"
          rows={all ?? []}
          keyOf={({ name }) => name}
          selected={chosen?.name ?? null}
          onSelect={({ name }) => setParam('certificate', name === chosen?.name ? null : name)}
          empty="No certificate is kept: generate test certificates, or add one. Those that flags name are files, and not listed."
          columns={[
            {
              title: 'Name',
              cell: ({ name }) => (
                <button
                  type="button"
                  class="quiet"
                  onClick={(event) => {
                    event.stopPropagation();
                    setParam('certificate', name);
                  }}
                >
                  {name}
                </button>
              ),
              value: ({ name }) => name,
            },
            { title: 'Kind', cell: ({ kind }) => kinds[kind], value: ({ kind }) => kinds[kind] },
            {
              title: 'Valid',
              cell: ({ not_before, not_after, warnings }) => (
                <Chip tone={warnings.length === 0 ? 'good' : 'warn'}>
                  <span title={warnings.join('; ')}>
                    {day(not_before)} to {day(not_after)}
                  </span>
                </Chip>
              ),
              value: ({ not_after }) => not_after,
            },
            {
              title: 'LFDI',
              cell: ({ lfdi }) => (lfdi === null ? dash : <code>{lfdi}</code>),
              value: ({ lfdi }) => lfdi,
            },
            { title: 'SFDI', cell: ({ sfdi }) => sfdi ?? dash, value: ({ sfdi }) => sfdi },
            { title: 'Key', cell: ({ has_key }) => (has_key ? 'kept' : dash), value: ({ has_key }) => has_key },
            {
              title: 'Used by',
              cell: ({ used_by }) => used_by.join(', ') || dash,
              value: ({ used_by }) => used_by.join(' '),
            },
            { title: 'Delete', cell: (certificate) => <Delete certificate={certificate} /> },
          ]}
        />
      </Panel>
      {chosen && <Chosen key={chosen.name} certificate={chosen} />}
      <Generate />
      <Add />
    </div>
  );
}

function Delete({ certificate: { name, used_by: usedBy } }: { readonly certificate: Certificate }) {
  return (
    <Action
      call={del('certificates/{name}', { params: { name } })}
      unable={usedBy.length === 0 ? null : `In use by ${usedBy.join(', ')}`}
      confirm={`Delete the certificate ${name} and its key for good?`}
    >
      Delete <span class="visually-hidden">{name}</span>
    </Action>
  );
}

function Chosen({ certificate }: { readonly certificate: Certificate }) {
  const { name, kind, subject, issuer, serial, chain_length: chainLength, lfdi, sfdi, warnings, used_by } = certificate;
  const { data, problem } = useLive(get('certificates/{name}', { params: { name } }), 'once');
  const copied = (title: string, text: string | null) =>
    text === null
      ? null
      : ([
          title,
          <span key={title} class="row">
            <code>{text}</code>
            <CopyButton text={text} name={title} />
          </span>,
        ] as const);
  return (
    <Panel title={`Certificate ${name}`} wide>
      <div class="stack">
        <Refused problem={problem} />
        <Facts
          rows={[
            ['Kind', kinds[kind]],
            copied('LFDI', lfdi),
            copied('SFDI', sfdi),
            ['Subject', subject || dash],
            ['Issuer', issuer || dash],
            ['Serial number', <code key="serial">{serial}</code>],
            ['Chain', chainLength],
            ['Used by', used_by.join(', ') || dash],
            warnings.length === 0 ? null : ['Warnings', warnings.join('; ')],
          ]}
        />
        {data && <TextToTake text={data.cert_pem} name="Certificate with its chain" file={`${name}.pem`} />}
        {data?.ca_pem != null && (
          <TextToTake text={data.ca_pem} name="Authorities of the other end" file={`${name}-ca.pem`} />
        )}
      </div>
    </Panel>
  );
}

const generateFields: readonly Field[] = [
  { kind: 'number', name: 'devices', label: 'Devices', min: 0, max: 64, step: 1, value: 1 },
  {
    kind: 'text',
    name: 'hosts',
    label: 'Hosts of the server',
    hint: 'Besides those of this machine; separate by commas.',
  },
  { kind: 'text', name: 'prefix', label: 'Prefix of the names' },
];

function Generate() {
  return (
    <Panel title="Generate test certificates">
      <div class="stack">
        <p class="muted">
          Authorities, a server, an aggregator and devices for IEEE 2030.5, with the chains that a head-end must refuse.
          Names that exist stay.
        </p>
        <Form
          fields={generateFields}
          submit="Generate"
          call={({ devices, hosts, prefix }) =>
            post('certificates/generate', {
              body: {
                ...(devices !== undefined && { devices: Number(devices) }),
                ...(hosts !== undefined && {
                  hosts: String(hosts)
                    .split(',')
                    .map((host) => host.trim()),
                }),
                ...(prefix !== undefined && { prefix: String(prefix) }),
              },
            })
          }
        />
      </div>
    </Panel>
  );
}

const addFields: readonly Field[] = [
  { kind: 'text', name: 'name', label: 'Name', hint: '1 to 64 letters, digits, - _ and .' },
  { kind: 'text', name: 'cert_pem', label: 'Certificate, then its intermediates (PEM)', lines: 4 },
  {
    kind: 'text',
    name: 'key_pem',
    label: 'Private key (PEM)',
    lines: 4,
    secret: true,
    hint: 'Not encrypted. It never comes back: keep a copy.',
  },
  { kind: 'text', name: 'ca_pem', label: 'Authorities of the other end (PEM)', lines: 4 },
];

function Add() {
  // a new form after success, so that the private key does not stay in the page
  const [round, setRound] = useState(0);
  return (
    <Panel title="Add a certificate">
      <Form
        key={round}
        fields={addFields}
        submit="Add"
        onDone={() => setRound(round + 1)}
        call={({ name = '', cert_pem = '', ...others }) =>
          post('certificates', { body: { name: String(name), cert_pem: String(cert_pem), ...others } })
        }
      />
    </Panel>
  );
}
