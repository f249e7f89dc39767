/** Implementations, models and documents of other people that judge derbench: rows of docs/evidence. */
import type { Judge as Row, Procedure as ProcedureRow } from '../../scripts/evidence/evidence.ts';
import type { Protocol } from '../../scripts/evidence/document.ts';
import type { Selector } from '../../scripts/evidence/verdicts.ts';
import type { VersionSource } from '../../scripts/evidence/versions.ts';
import type { Peer } from './support/peers.ts';

/** Tests of a judge; `peer` is a key of `describeWith`. */
interface Parts {
  readonly tests: readonly (Selector & { readonly peer?: Peer })[];
}

type Judge = Row & Parts;
type Procedure = ProcedureRow & Parts;

const pypi = (name: string) => `https://pypi.org/project/${name}/`;
const goModule = (file: string, path: string): VersionSource => ({
  file: `test/interop/${file}/go.mod`,
  pattern: new RegExp(`${path} (v\\S+)`),
});
const crate = (name: string): VersionSource => ({
  file: 'test/interop/rust/Cargo.lock',
  pattern: new RegExp(`name = "${name}"\nversion = "([^"]+)"`),
});

/** Tests of the recorder's capture file, but for those of the other protocol in it. */
const captureExcept = (protocol: string) => ({
  peer: 'tshark' as const,
  files: ['interop/recorder-tshark.test'],
  title: new RegExp(`^((?!${protocol}).)*$`),
});

const sunspecJudges: readonly Judge[] = [
  {
    id: 'pysunspec2',
    name: 'pysunspec2',
    home: 'https://github.com/sunspec/pysunspec2',
    protocol: 'sunspec',
    role: 'master, encoder of maps, model definitions',
    version: { peer: 'pysunspec2' },
    tests: [{ peer: 'pysunspec2' }],
  },
  {
    id: 'pysunspec',
    name: 'pysunspec, the first generation',
    home: 'https://github.com/sunspec/pysunspec',
    protocol: 'sunspec',
    role: 'master',
    version: { peer: 'pysunspec' },
    tests: [{ peer: 'pysunspec' }],
  },
  {
    id: 'pymodbus',
    name: 'pymodbus',
    home: 'https://github.com/pymodbus-dev/pymodbus',
    protocol: 'sunspec',
    role: 'Modbus master, server of foreign maps',
    version: { peer: 'pymodbus' },
    tests: [{ peer: 'pymodbus' }],
  },
  {
    id: 'mbpoll',
    name: 'mbpoll (libmodbus)',
    home: 'https://github.com/epsilonrt/mbpoll',
    protocol: 'sunspec',
    role: 'Modbus master',
    version: { peer: 'mbpoll' },
    tests: [{ peer: 'mbpoll' }],
  },
  {
    id: 'modbus-serial',
    name: 'modbus-serial',
    home: 'https://github.com/yaacov/node-modbus-serial',
    protocol: 'sunspec',
    role: 'Modbus master over TCP and RTU, server',
    shares: 'the SunSpec client of derbench is built on it; the server of derbench is not',
    version: { npm: 'modbus-serial' },
    tests: [
      {
        files: ['interop/modbus-rtu.test', 'interop/modbus-faults.test', 'interop/sunspec-client.test'],
        title: /modbus-serial/,
      },
      { files: ['sunspec/modbus/masters.test'], title: /modbus-serial/ },
    ],
  },
  {
    id: 'jsmodbus',
    name: 'jsmodbus',
    home: 'https://github.com/Cloud-Automation/node-modbus',
    protocol: 'sunspec',
    role: 'Modbus master, server',
    version: { npm: 'jsmodbus' },
    tests: [{ files: ['sunspec/modbus/masters.test', 'sunspec/client/servers.test'], title: /jsmodbus/ }],
  },
  {
    id: 'gosunspec',
    name: 'gosunspec',
    home: 'https://github.com/andig/gosunspec',
    protocol: 'sunspec',
    role: 'master (library of evcc and mbmd)',
    version: goModule('go-sunspec', 'andig/gosunspec'),
    tests: [{ peer: 'go', files: ['interop/field-gosunspec.test'] }],
  },
  {
    id: 'rust-sunspec',
    name: 'sunspec (Rust)',
    home: 'https://crates.io/crates/sunspec',
    protocol: 'sunspec',
    role: 'master',
    version: crate('sunspec'),
    tests: [{ peer: 'rust', title: / sunspec / }],
  },
  {
    id: 'rust-sunspec_rs',
    name: 'sunspec_rs (Rust)',
    home: 'https://crates.io/crates/sunspec_rs',
    protocol: 'sunspec',
    role: 'master',
    version: crate('sunspec_rs'),
    tests: [{ peer: 'rust', title: / sunspec_rs / }],
  },
  {
    id: 'dertwin',
    name: 'dertwin',
    home: 'https://github.com/AlexSpivak/dertwin',
    protocol: 'sunspec',
    role: 'device, read by the SunSpec client of derbench',
    version: { peer: 'dertwin' },
    tests: [{ peer: 'dertwin' }],
  },
  {
    id: 'openssl',
    name: 'OpenSSL s_client',
    home: 'https://www.openssl.org',
    protocol: 'sunspec',
    role: 'TLS client of Modbus Security',
    version: { peer: 'openssl' },
    tests: [{ peer: 'openssl', files: ['interop/modbus-tls.test'] }],
  },
  {
    id: 'tshark',
    name: 'tshark (Wireshark)',
    home: 'https://www.wireshark.org',
    protocol: 'sunspec',
    role: 'dissector of captures',
    version: { peer: 'tshark' },
    tests: [{ peer: 'tshark', files: ['interop/tshark.test'] }, captureExcept('DNP3')],
  },
];

const csipJudges: readonly Judge[] = [
  {
    id: 'py20305',
    name: 'py20305',
    home: pypi('py20305'),
    protocol: 'csip',
    role: 'client of IEEE 2030.5 that commands a device over SunSpec',
    version: { peer: 'py20305' },
    tests: [
      {
        peer: 'py20305',
        files: [
          'interop/csip-py20305.test',
          'interop/csip-device.test',
          'interop/py20305.test',
          'interop/recorder-replay.test',
        ],
      },
    ],
  },
  {
    id: 'sep-xsd',
    name: 'sep.xsd of 2018, 2023 and CSIP-AUS 1.2, as py20305 carries them',
    home: pypi('py20305'),
    protocol: 'csip',
    role: 'schema',
    version: { peer: 'py20305' },
    tests: [
      { files: ['interop/csip-xsd.test', 'interop/csip-cactus.test'], title: /valid|schemas? refuse|schemas of/ },
    ],
  },
  {
    id: 'envoy-schema',
    name: 'envoy-schema',
    home: 'https://github.com/bsgip/envoy-schema',
    protocol: 'csip',
    role: 'reader and writer of documents',
    version: { peer: 'envoy_schema' },
    tests: [{ peer: 'envoy_schema', title: /envoy_schema reads/ }],
  },
  {
    id: 'gridappsd-2030-5',
    name: 'gridappsd-2030-5',
    home: pypi('gridappsd-2030-5'),
    protocol: 'csip',
    role: 'utility server',
    version: { peer: 'gridappsd' },
    tests: [{ peer: 'gridappsd' }],
    known: [
      {
        test: 'gridappsd, pysunspec2, openssl the client at a utility server of other people breaks two rules',
        why: 'Its Time lacks members that the schema requires. derbench reads it, and reports the finding csip.member_required.',
        right: 'derbench',
        clause: 'IEEE 2030.5-2018 and 2030.5-2023, sep.xsd: minOccurs 1',
        issue: null,
      },
    ],
  },
  {
    id: 'cactus',
    name: 'CSIP-AUS test definitions (cactus)',
    home: 'https://github.com/bsgip/cactus-test-definitions',
    protocol: 'csip',
    role: 'test procedures for clients, carried out by a runner of this repository',
    version: { file: 'scripts/peers.mjs', pattern: /version = '([^']+)'/ },
    tests: [{ files: ['interop/csip-cactus.test'] }],
    known: [
      {
        test: 'the client procedures of the CSIP-AUS test definitions pass',
        why: 'MUL-01 asks for more than one device behind an EndDevice. derbench gives each EndDevice one device.',
        right: 'judge',
        clause: 'CSIP-AUS test definitions, MUL-01',
        issue: null,
      },
      {
        test: 'the client procedures of the CSIP-AUS test definitions pass',
        why: 'DRA-02, DRD-01, DRG-01 and DRL-01 ask for operationalModeStatus 100 to 107, which derbench does not send.',
        right: 'judge',
        clause: 'CSIP-AUS test definitions, DRA-02',
        issue: null,
      },
      {
        test: 'the client procedures of the CSIP-AUS test definitions pass',
        why: 'P-06 counts two requests of a client that comes back when Retry-After is over and polls each minute. derbench makes three.',
        right: 'open',
        clause: 'CSIP-AUS test definitions, P-06',
        issue: null,
      },
    ],
  },
  {
    id: 'openssl-csip',
    name: 'OpenSSL verify and s_client',
    home: 'https://www.openssl.org',
    protocol: 'csip',
    role: 'judge of certificates made by `derbench pki`',
    version: { peer: 'openssl' },
    tests: [{ peer: 'openssl', files: ['interop/csip-pki.test'] }],
  },
];

const ocppJudges: readonly Judge[] = [
  {
    id: 'ocpp',
    name: 'ocpp (Python, mobilityhouse)',
    home: 'https://github.com/mobilityhouse/ocpp',
    protocol: 'ocpp',
    role: 'central system and CSMS of 1.6, 2.0.1 and 2.1',
    version: { peer: 'ocpp' },
    tests: [{ peer: 'ocpp' }],
  },
  {
    id: 'ocpp-go',
    name: 'ocpp-go',
    home: 'https://github.com/lorenzodonini/ocpp-go',
    protocol: 'ocpp',
    role: 'central system of 1.6, CSMS of 2.0.1',
    version: goModule('go', 'lorenzodonini/ocpp-go'),
    tests: [{ peer: 'go', files: ['interop/ocpp-'] }],
  },
  {
    id: 'oca-schemas',
    name: 'JSON schemas of OCPP 1.6 by the Open Charge Alliance',
    home: 'https://openchargealliance.org',
    protocol: 'ocpp',
    role: 'schema, compared with the copy in ocpp-rpc that derbench uses',
    version: { fixed: '1.6' },
    tests: [{ files: ['interop/ocpp-schemas.test'] }],
  },
];

const dnp3Judges: readonly Judge[] = [
  {
    id: 'opendnp3',
    name: 'opendnp3 (dnp3-python)',
    home: 'https://github.com/VOLTTRON/dnp3-python',
    protocol: 'dnp3',
    role: 'master',
    version: { peer: 'opendnp3' },
    tests: [{ peer: 'opendnp3' }],
  },
  {
    id: 'dnp3py',
    name: 'dnp3py',
    home: pypi('dnp3py'),
    protocol: 'dnp3',
    role: 'master',
    version: { peer: 'dnp3py' },
    tests: [{ peer: 'dnp3py' }],
  },
  {
    id: 'py1815',
    name: 'py1815',
    home: pypi('py1815'),
    protocol: 'dnp3',
    role: "evaluator with EPRI's procedures for the DER profile; reader of the device profile",
    version: { peer: 'py1815' },
    tests: [{ peer: 'py1815' }],
    known: [
      {
        test: 'py1815 an outstation judged by py1815',
        why: 'Four of its values would put the enter-service window beyond 60 Hz, or the least reserve above the greatest: narrowed.',
        right: 'open',
        clause: null,
        issue: null,
      },
    ],
  },
  {
    id: 'tshark-dnp3',
    name: 'tshark (Wireshark)',
    home: 'https://www.wireshark.org',
    protocol: 'dnp3',
    role: 'dissector of captures',
    version: { peer: 'tshark' },
    tests: [{ peer: 'tshark', files: ['interop/dnp3-tshark.test'] }, captureExcept('Modbus')],
    known: [
      {
        test: 'tshark dissects a long session with an outstation without a malformed frame',
        why: 'Its dissector does not know ASSIGN_CLASS without data in a request. The test looks at frames of the outstation alone.',
        right: 'derbench',
        clause: 'IEEE 1815-2012, function code 22 (ASSIGN_CLASS)',
        issue: null,
      },
      {
        test: 'tshark, pysunspec2 dissects the capture file of the recorder',
        why: 'Its dissector does not know g51v2, the common time of a clock that has not been set. The session sets the clock first.',
        right: 'derbench',
        clause: 'IEEE 1815-2012 Annex A, g51v2',
        issue: null,
      },
    ],
  },
];

const httpJudges: readonly Judge[] = [
  {
    id: 'schemathesis',
    name: 'schemathesis',
    home: 'https://github.com/schemathesis/schemathesis',
    protocol: 'http',
    role: 'maker of requests from the description',
    version: { peer: 'schemathesis' },
    tests: [{ peer: 'schemathesis' }],
  },
  {
    id: 'openapi-schema-validator',
    name: '@seriousme/openapi-schema-validator',
    home: 'https://github.com/seriousme/openapi-schema-validator',
    protocol: 'http',
    role: 'validator of the description',
    version: { npm: '@seriousme/openapi-schema-validator' },
    tests: [{ files: ['api/description/openapi.test'], title: /is valid OpenAPI/ }],
  },
  {
    id: 'redocly',
    name: '@redocly/openapi-core',
    home: 'https://github.com/Redocly/redocly-cli',
    protocol: 'http',
    role: 'linter of the description',
    version: { npm: '@redocly/openapi-core' },
    tests: [{ files: ['interop/openapi-client.test'], title: /strictest linter/ }],
  },
  {
    id: 'openapi-fetch',
    name: 'openapi-typescript and openapi-fetch',
    home: 'https://github.com/openapi-ts/openapi-typescript',
    protocol: 'http',
    role: 'generated client',
    shares: 'the dashboard of derbench takes its types from openapi-typescript',
    version: { npm: 'openapi-fetch' },
    tests: [{ files: ['interop/openapi-client.test'], title: /generated without|compiles|drives|gets the problem/ }],
  },
  {
    id: 'mcp',
    name: 'MCP clients of both generations, and the inspector',
    home: 'https://github.com/modelcontextprotocol',
    protocol: 'http',
    role: 'clients of `derbench mcp`',
    version: { peer: 'mcp' },
    tests: [{ peer: 'mcp' }],
  },
  {
    id: 'prometheus_client',
    name: 'prometheus_client (Python)',
    home: 'https://github.com/prometheus/client_python',
    protocol: 'http',
    role: 'parser of the metrics',
    version: { peer: 'prometheus_client' },
    tests: [{ peer: 'prometheus_client' }],
  },
  {
    id: 'prometheus',
    name: 'Prometheus and promtool',
    home: 'https://prometheus.io',
    protocol: 'http',
    role: 'scraper; reader of the alerts and of the expressions behind the Grafana dashboard',
    version: { peer: 'prometheus' },
    tests: [{ peer: 'prometheus' }],
  },
];

const fleetJudges: readonly Judge[] = [
  {
    id: 'nats-server',
    name: 'nats-server, and its client for Node.js',
    home: 'https://github.com/nats-io/nats-server',
    protocol: 'http',
    role: 'broker of a fleet; reader of ticks and services',
    shares: 'derbench and the reader use the same client library',
    version: { peer: 'nats' },
    tests: [{ peer: 'nats' }, { peer: 'nats_new' }],
  },
  {
    id: 'nats-py',
    name: 'nats-py',
    home: 'https://github.com/nats-io/nats.py',
    protocol: 'http',
    role: 'client of the broker that lists the services of a fleet and reads snapshots',
    version: { peer: 'nats_py' },
    tests: [{ peer: 'nats_py' }],
  },
];

const physicsJudges: readonly Judge[] = [
  {
    id: 'opender',
    name: 'OpenDER (EPRI), recorded runs',
    home: 'https://github.com/epri-dev/OpenDER',
    protocol: 'physics',
    role: 'reference model of IEEE 1547-2018; its figures are in fixtures/opender',
    version: { file: 'fixtures/opender/README.md', pattern: /OpenDER (\d[\d.]*\d)/ },
    tests: [{ files: ['der/opender/replay.test'] }],
    known: [
      {
        test: 'IEEE 1547-2018 after the reference model OpenDER where the reference model chose otherwise',
        why: 'Seven of 92 runs: speed of constant power factor, reactive power and limit, and the sign of Q while charging.',
        right: 'open',
        clause: null,
        issue: null,
      },
    ],
  },
  {
    id: 'svp',
    name: 'SVP with the scripts of svp_1547.1 (Sandia)',
    home: 'https://github.com/sandialabs/svp_1547.1',
    protocol: 'physics',
    role: 'test scripts of IEEE 1547.1',
    version: { fixed: 'commit 136629e' },
    tests: [{ files: ['interop/svp.test'], title: /svp_energy_lab and svp_1547/ }],
  },
  {
    id: 'pvlib',
    name: 'pvlib',
    home: 'https://github.com/pvlib/pvlib-python',
    protocol: 'physics',
    role: 'reference model of a PV array',
    version: { peer: 'pvlib' },
    tests: [{ peer: 'pvlib' }],
  },
  {
    id: 'pandapower',
    name: 'pandapower',
    home: 'https://github.com/e2nIEE/pandapower',
    protocol: 'physics',
    role: 'power flow, DERController',
    version: { peer: 'pandapower' },
    tests: [{ peer: 'pandapower' }],
  },
  {
    id: 'opendss',
    name: 'OpenDSS (OpenDSSDirect.py)',
    home: 'https://github.com/dss-extensions/OpenDSSDirect.py',
    protocol: 'physics',
    role: 'power flow, InvControl, published feeders',
    version: { peer: 'opendssdirect.py' },
    tests: [{ peer: 'opendssdirect.py' }],
  },
  {
    id: 'helics',
    name: 'HELICS',
    home: 'https://github.com/GMLC-TDC/HELICS',
    protocol: 'physics',
    role: 'co-simulation framework',
    version: { peer: 'helics' },
    tests: [{ peer: 'helics' }],
  },
  {
    id: 'mosaik',
    name: 'mosaik',
    home: 'https://mosaik.offis.de',
    protocol: 'physics',
    role: 'co-simulation framework',
    version: { peer: 'mosaik' },
    tests: [{ peer: 'mosaik' }],
  },
];

const dashboardJudges: readonly Judge[] = [
  {
    id: 'chromium',
    name: 'Chromium',
    home: 'https://www.chromium.org',
    protocol: 'dashboard',
    role: 'browser',
    version: { peer: 'chromium' },
    tests: [{ files: ['browser/'] }],
  },
  {
    id: 'axe-core',
    name: 'axe-core',
    home: 'https://github.com/dequelabs/axe-core',
    protocol: 'dashboard',
    role: 'scanner for barriers',
    version: { npm: 'axe-core' },
    tests: [{ files: ['browser/'], title: /hinder/ }],
  },
  {
    id: 'vnu',
    name: 'Nu HTML checker',
    home: 'https://github.com/validator/validator',
    protocol: 'dashboard',
    role: 'checker of the HTML of all views',
    version: { peer: 'vnu' },
    tests: [{ peer: 'vnu' }],
  },
  {
    id: 'lighthouse',
    name: 'Lighthouse',
    home: 'https://github.com/GoogleChrome/lighthouse',
    protocol: 'dashboard',
    role: 'auditor of accessibility and of shifts of the layout',
    version: { peer: 'lighthouse' },
    tests: [{ peer: 'lighthouse' }],
  },
];

/** A judge of packages and deployment files that is a peer of its own. */
function packaging(row: Pick<Judge, 'id' | 'home' | 'role'> & { name?: string; peer: Peer; title?: RegExp }): Judge {
  const { peer, title, name = row.id, ...others } = row;
  const tests = [{ peer, ...(title !== undefined && { title }) }];
  return { ...others, name, protocol: 'packaging', version: { peer }, tests };
}

const packagingJudges: readonly Judge[] = [
  packaging({
    id: 'hadolint',
    home: 'https://github.com/hadolint/hadolint',
    role: 'linter of the Dockerfile',
    peer: 'hadolint',
  }),
  packaging({
    id: 'dclint',
    home: 'https://github.com/zavoloklom/docker-compose-linter',
    role: 'linter of the Compose files',
    peer: 'dclint',
  }),
  packaging({
    id: 'kubernetes-validate',
    home: pypi('kubernetes-validate'),
    role: 'checker of the Kubernetes files',
    peer: 'kubernetes_validate',
  }),
  {
    id: 'systemd-analyze',
    name: 'systemd-analyze',
    home: 'https://systemd.io',
    protocol: 'packaging',
    role: 'checker of the unit, its exposure included',
    version: { program: 'systemd-analyze' },
    tests: [{ files: ['interop/deploy.test'], title: /systemd-analyze/ }],
  },
  packaging({ id: 'publint', home: 'https://publint.dev', role: 'linter of the npm package', peer: 'publint' }),
  packaging({
    id: 'attw',
    name: 'attw (Are the types wrong?)',
    home: 'https://github.com/arethetypeswrong/arethetypeswrong.github.io',
    role: 'checker of exports and types of the npm package',
    peer: 'attw',
  }),
  packaging({
    id: 'cyclonedx',
    name: 'CycloneDX 1.6, schemas of cyclonedx-python-lib',
    home: 'https://github.com/CycloneDX/cyclonedx-python-lib',
    role: 'schema of the bill of materials',
    peer: 'cyclonedx',
  }),
  packaging({
    id: 'twine',
    home: pypi('twine'),
    role: 'checker of the Python packages',
    peer: 'twine',
    title: /passes twine/,
  }),
  packaging({
    id: 'check-wheel-contents',
    home: pypi('check-wheel-contents'),
    role: 'checker of the wheel',
    peer: 'check_wheel_contents',
    title: /check-wheel/,
  }),
  packaging({
    id: 'mypy',
    home: pypi('mypy'),
    role: 'type checker of the Python client',
    peer: 'mypy',
    title: /passes mypy/,
  }),
  packaging({
    id: 'pyright',
    home: pypi('pyright'),
    role: 'type checker of the Python client',
    peer: 'pyright',
    title: /pyright/,
  }),
  packaging({
    id: 'pytest',
    home: pypi('pytest'),
    role: 'runner that finds and uses the plugin',
    peer: 'pytest',
    title: / installed /,
  }),
];

export const judges: readonly Judge[] = [
  ...sunspecJudges,
  ...csipJudges,
  ...ocppJudges,
  ...dnp3Judges,
  ...httpJudges,
  ...fleetJudges,
  ...physicsJudges,
  ...dashboardJudges,
  ...packagingJudges,
];

/** What no judge looks at. */
export const gaps: Readonly<Partial<Record<Protocol, readonly string[]>>> = {
  sunspec: ['RTU over TCP without injected faults', 'masters in hardware, and lines of real length'],
  csip: [
    'controls other than a power limit from a server of other people: the head-end of the CSIP-AUS procedures is ours',
    'subscriptions with a server of other people',
  ],
  ocpp: ['OCPP 2.1 at a second central system', 'vehicles that speak ISO 15118 themselves'],
  dnp3: ['DNP3 over TLS', 'the point map an2018: py1815 judges ieee1815.2'],
  http: ['messages of the WebSocket streams, beyond what the dashboard shows'],
  physics: [
    'wind turbines, batteries, fuel cells and vehicles: `npm test` compares them with recorded figures, no model runs beside them',
  ],
  dashboard: ['Firefox and Safari', 'readers of screens with a person before them'],
  packaging: ['container engines: the steps of the Dockerfile are carried out by hand'],
};

/** Peers that carry a test without judging derbench. */
export const aids: readonly Peer[] = ['hatchling', 'python', 'socat'];

const scenarioOf = (pattern: string) => new RegExp(`run headless (${pattern})\\S* passes`);

export const procedures: readonly Procedure[] = [
  {
    id: 'sunspec-procedures',
    name: 'Modbus procedures over TCP, TLS, RTU over TCP and RTU',
    clauses: 'SunSpec conformance test procedures: interface, models, settings, curves, reversion',
    tests: [{ files: ['conformance/', 'interop/conformance'] }],
  },
  {
    id: 'ieee-1547.1',
    name: 'Scenarios after IEEE 1547.1',
    clauses: 'IEEE 1547.1-2020 5.4 to 5.6 and 5.13 to 5.16; IEEE 1547-2018 4 to 6',
    tests: [
      {
        files: ['interop/scenarios.test'],
        title: scenarioOf('ride-through|volt-var|watt-var|constant-pf|volt-watt|freq-droop|enter-service'),
      },
    ],
  },
  {
    id: 'ul-1741-sb',
    name: 'Scenario after UL 1741 SB',
    clauses: 'UL 1741 SB; IEEE 1547.1-2020 5.13 to 5.16',
    tests: [{ files: ['interop/scenarios.test'], title: scenarioOf('ul1741-sb') }],
  },
  {
    id: 'field-requests',
    name: 'Requests of evcc, Home Assistant, mbmd, open-dynamic-export, OpenEMS and dbus-fronius, replayed',
    clauses: 'written down from their sources; the programs themselves do not run',
    tests: [{ files: ['interop/field-clients.test'] }],
  },
];

/** Interop tests of derbench by itself. */
export const unjudged: readonly string[] = [
  'document-commands',
  'container',
  'csip-restart',
  'install',
  'kills',
  'library',
  'recorder-replay-csip',
  'scenarios-real',
  'soak',
];
