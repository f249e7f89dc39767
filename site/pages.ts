/** Pages of the site in their order: sidebar and llms.txt are made from this table. */

export type Kind = 'start' | 'tutorial' | 'how-to' | 'concept' | 'reference' | 'contributing';

export interface Page {
  /** below docs/ */
  readonly file: string;
  readonly title: string;
  /** who opens the page first */
  readonly door: 'all' | 'modbus' | 'csip' | 'ocpp' | 'dnp3' | 'tests' | 'studies' | 'contributors';
  readonly kind: Kind;
}

const page = (kind: Kind, door: Page['door'], file: string, title: string): Page => ({ file, title, door, kind });

/** Headings of the sidebar. */
export const kinds: Readonly<Record<Kind, string>> = {
  start: 'Start',
  tutorial: 'Tutorials',
  'how-to': 'How to',
  concept: 'Concepts',
  reference: 'Reference',
  contributing: 'Contributing',
};

export const pages: readonly Page[] = [
  page('start', 'all', 'index.md', 'derbench'),
  page('start', 'all', 'install.md', 'Install'),
  page('start', 'modbus', 'doors/sunspec-master.md', 'I test a SunSpec master'),
  page('start', 'csip', 'doors/head-end.md', 'I test a utility head-end (IEEE 2030.5)'),
  page('start', 'ocpp', 'doors/central-system.md', 'I test a central system (OCPP)'),
  page('start', 'dnp3', 'doors/dnp3-master.md', 'I test a DNP3 master'),
  page('start', 'tests', 'doors/ci.md', 'I write tests for CI'),
  page('start', 'studies', 'doors/researcher.md', 'I study grids and devices'),
  page('start', 'all', 'comparison.md', 'Comparison with other tools'),
  page('start', 'all', 'glossary.md', 'Glossary'),
  page('start', 'all', 'troubleshooting.md', 'Troubleshooting'),
  page('tutorial', 'all', 'tutorials/first-ten-minutes.md', 'The first ten minutes'),
  page('tutorial', 'all', 'tutorials/mixed-site.md', 'A site of all kinds'),
  page('how-to', 'all', 'fleet.md', 'A fleet of several processes'),
  page('how-to', 'csip', 'how-to/certificates.md', 'Certificates'),
  page('how-to', 'tests', 'how-to/ci.md', 'Test in CI'),
  page('how-to', 'studies', 'how-to/co-simulation.md', 'A grid behind the devices: co-simulation'),
  page('how-to', 'tests', 'how-to/commands.md', 'Use a running simulator from a shell'),
  page('how-to', 'all', 'how-to/container.md', 'Run in a container'),
  page('how-to', 'all', 'how-to/dashboard.md', 'Dashboard'),
  page('how-to', 'modbus', 'how-to/field-clients.md', 'Which client needs which map'),
  page('how-to', 'tests', 'how-to/findings.md', 'Grade your head-end in ten minutes'),
  page('how-to', 'studies', 'how-to/helics-mosaik.md', 'HELICS and mosaik'),
  page('how-to', 'tests', 'how-to/python.md', 'Read and limit with Python'),
  page('how-to', 'tests', 'how-to/recorder.md', 'Recorder and replay'),
  page('how-to', 'tests', 'how-to/scenarios.md', 'Scenarios'),
  page('how-to', 'all', 'how-to/state.md', 'Handle the kept state'),
  page('how-to', 'tests', 'how-to/stream-node.md', 'Stream with Node.js'),
  page('how-to', 'studies', 'how-to/svp.md', 'The IEEE 1547.1 scripts of SVP'),
  page('how-to', 'csip', 'how-to/test-your-head-end.md', 'Test your head-end in ten minutes'),
  page('how-to', 'modbus', 'how-to/vendor-maps.md', 'The map of a product'),
  page('how-to', 'all', 'how-to/start.md', 'What to start'),
  page('how-to', 'ocpp', 'how-to/csms.md', 'Run a small central system'),
  page('how-to', 'all', 'how-to/agents.md', 'Use derbench with an agent'),
  page('how-to', 'all', 'how-to/grafana.md', 'Watch it with Prometheus and Grafana'),
  page('how-to', 'tests', 'how-to/pytest.md', 'Test with pytest'),
  page('how-to', 'all', 'how-to/systemd.md', 'Run as a service of systemd'),
  page('concept', 'tests', 'concepts/answers.md', 'Answered yes, and done?'),
  page('concept', 'tests', 'concepts/consistency.md', 'One quantity, every protocol'),
  page('concept', 'studies', 'concepts/environment.md', 'The grid and the weather around the devices'),
  page('concept', 'all', 'concepts/faults.md', 'Faults'),
  page('concept', 'studies', 'concepts/grid-support.md', 'Grid support after IEEE 1547-2018'),
  page('concept', 'all', 'concepts/holds.md', 'Holds: timed controls'),
  page('concept', 'modbus', 'concepts/map-layouts.md', 'Map layouts: which SunSpec models a device shows'),
  page('concept', 'all', 'concepts/operation.md', 'Operation'),
  page('concept', 'modbus', 'concepts/proxy.md', 'Maps of other makers'),
  page('concept', 'all', 'concepts/settings.md', 'Settings'),
  page('concept', 'studies', 'concepts/site.md', 'Connection points'),
  page('concept', 'all', 'concepts/state.md', 'State over a restart'),
  page('concept', 'studies', 'devices/battery.md', 'Battery'),
  page('concept', 'ocpp', 'devices/evse.md', 'Charging station'),
  page('concept', 'studies', 'devices/fuel-cell.md', 'Fuel cell and electrolyser'),
  page('concept', 'studies', 'devices/hybrid.md', 'DC-coupled hybrid'),
  page('concept', 'studies', 'devices/index.md', 'Kinds of devices'),
  page('concept', 'studies', 'devices/pv.md', 'PV'),
  page('concept', 'studies', 'devices/wind.md', 'Wind turbine'),
  page('concept', 'csip', 'protocols/csip.md', 'IEEE 2030.5 (CSIP) client'),
  page('concept', 'dnp3', 'protocols/dnp3.md', 'DNP3 outstations'),
  page('concept', 'modbus', 'protocols/modbus.md', 'Modbus and the register map'),
  page('concept', 'ocpp', 'protocols/ocpp-2.md', 'OCPP 2.0.1 and 2.1'),
  page('concept', 'ocpp', 'protocols/ocpp.md', 'OCPP charge points'),
  page('concept', 'modbus', 'protocols/sunspec-client.md', 'The SunSpec client'),
  page('reference', 'tests', 'reference/commands.md', 'Commands'),
  page('reference', 'all', 'reference/config.md', 'Configuration file'),
  page('reference', 'csip', 'reference/csip-modes.md', 'Control modes of IEEE 2030.5'),
  page('reference', 'dnp3', 'reference/dnp3-points.md', 'Points of the DNP3 outstations'),
  page('reference', 'tests', 'reference/exit-codes.md', 'Exit codes'),
  page('reference', 'modbus', 'reference/faults-device.md', 'Faults in what a device does'),
  page('reference', 'modbus', 'reference/faults-field.md', 'Faults seen in the field'),
  page('reference', 'modbus', 'reference/faults-reading.md', 'Reading and structure faults'),
  page(
    'reference',
    'modbus',
    'reference/faults-wire.md',
    'Faults on the Modbus wire and in what a write puts into the registers',
  ),
  page('reference', 'all', 'reference/finding-rules.md', 'All rules of findings'),
  page('reference', 'all', 'reference/http.md', 'REST and WebSocket'),
  page('reference', 'all', 'reference/metrics.md', 'Metrics'),
  page('reference', 'studies', 'reference/profile.md', 'Device profile'),
  page('reference', 'tests', 'reference/scenario-format.md', 'Format of scenarios'),
  page('reference', 'tests', 'reference/scenario-library.md', 'Scenarios that come with the program'),
  page('reference', 'all', 'reference/settings-list.md', 'Settings and flags'),
  page('reference', 'all', 'evidence/index.md', 'Evidence'),
  page('reference', 'all', 'reference/coverage.md', 'What is done and what is not'),
  page('reference', 'all', 'reference/versions.md', 'Versions'),
  page('contributing', 'contributors', 'ARCHITECTURE.md', 'Architecture'),
];
