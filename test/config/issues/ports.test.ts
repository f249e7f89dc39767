import { expect } from 'chai';
import { presetLayer } from '../../../src/config/layers/gather.ts';
import { isOpened, listeners } from '../../../src/config/settings/listeners.ts';
import type { Listener } from '../../../src/config/settings/listeners.ts';
import { settingKeys, settingOf } from '../../../src/config/settings/settings.ts';
import type { SettingKey } from '../../../src/config/settings/settings.ts';
import { issueLines, run } from '../support.ts';

type Flags = Readonly<Record<string, string>>;

/** Turns every listener on, each at a port of its own. */
const allOn: Flags = {
  csip_client_enable: 'yes',
  csip_enc: 'no',
  csip_subscribe: 'yes',
  dnp3_enable: 'yes',
  proxy: 'string-inverter-basic',
  ...Object.fromEntries(listeners.map(({ port }, at) => [port, String(30_000 + 1000 * at)])),
};

/** The issues of ports, as lines. */
function portLines(flags: Flags, files: Readonly<Record<string, string>> = {}): readonly string[] {
  const argv = Object.entries(flags).flatMap(([key, value]) => [key === 'N' ? '-N' : `--${key}`, value]);
  try {
    run(argv, { files });
    return [];
  } catch {
    return issueLines(argv, { files }).filter((line) => /another port|last port/.test(line));
  }
}

const pairs = listeners.flatMap((later, at) => listeners.slice(0, at).map((earlier) => [earlier, later] as const));
const at = ({ port }: Listener, number: number): Flags => ({ [port]: String(number) });
const both = (earlier: Listener, later: Listener, number: number): Flags => ({
  ...allOn,
  ...at(earlier, number),
  ...at(later, number),
});

describe('ports of listeners', () => {
  it('the table has each setting of a port on which the process listens', () => {
    const others = ['csip_server_port', 'rtu_port', 'mb_shared_port', 'dnp3_shared_port'];
    const ports = settingKeys.filter((key) => key.endsWith('_port') && !others.includes(key));
    expect(listeners.map(({ port }) => port)).to.have.members(ports);
  });

  it('different ports do not conflict', () => {
    expect(portLines(allOn)).to.deep.equal([]);
  });

  for (const [earlier, later] of pairs) {
    it(`${later.port} may not be that of ${earlier.port}, unless it is 0 or on another address`, () => {
      expect(portLines(both(earlier, later, 40_000))).to.deep.equal([
        `--${later.port}: given 40000, which --${earlier.port} uses; allowed: another port`,
      ]);
      expect(portLines(both(earlier, later, 0))).to.deep.equal([]);
      if (earlier.host !== later.host)
        expect(portLines({ ...both(earlier, later, 40_000), [later.host]: '127.0.0.2' })).to.deep.equal([]);
    });
  }

  for (const listener of listeners)
    for (const need of listener.needs)
      it(`${listener.port} conflicts with none without ${need}`, () => {
        const [website] = listeners;
        const flags = Object.entries(both(website!, listener, 40_000)).filter(([key]) => key !== need);
        const off = settingOf(need).default === true ? { [need]: 'no' } : {};
        expect(portLines({ ...Object.fromEntries(flags), ...off })).to.deep.equal([]);
      });

  it('rows of ports, one for each device, conflict where they overlap', () => {
    const rows = (mb: number, dnp3: number, more: Flags = {}) =>
      portLines({ ...allOn, N: '3', csip_identity: 'aggregator', mb_port: `${mb}`, dnp3_port: `${dnp3}`, ...more });
    expect(rows(40_000, 40_001)).to.deep.equal([
      '--dnp3_port: given 40001, for ports 40001 to 40003, of which --mb_port uses 40001 to 40002; allowed: another port',
    ]);
    expect(rows(40_000, 40_003)).to.deep.equal([]);
    expect(rows(40_003, 40_000)).to.deep.equal([]);
    expect(rows(40_003, 40_001)).to.deep.equal([
      '--dnp3_port: given 40001, for ports 40001 to 40003, of which --mb_port uses 40003; allowed: another port',
    ]);
    expect(rows(40_000, 40_001, { mb_shared_port: 'yes' })).to.deep.equal([]);
    expect(rows(40_002, 40_001, { mb_shared_port: 'yes' })).to.deep.equal([
      '--dnp3_port: given 40001, for ports 40001 to 40003, of which --mb_port uses 40002; allowed: another port',
    ]);
    expect(rows(40_002, 40_003, { dnp3_shared_port: 'yes' })).to.deep.equal([
      '--dnp3_port: given 40003, which --mb_port uses; allowed: another port',
    ]);
    expect(rows(40_002, 40_001, { mb_shared_port: 'yes', dnp3_shared_port: 'yes' })).to.deep.equal([]);
  });

  it('a row that ends beyond the highest port is an issue too', () => {
    expect(
      portLines({ ...allOn, mb_port: '65534', dnp3_port: '65535', N: '3', csip_identity: 'aggregator' }),
    ).to.deep.equal([
      '--mb_port: given 65534, so that the last device would be on port 65536; allowed: a last port up to 65535, 0, or mb_shared_port',
      '--dnp3_port: given 65535, so that the last outstation would be on port 65537; ' +
        'allowed: a last port up to 65535, 0, or dnp3_shared_port',
      '--dnp3_port: given 65535, for ports 65535 to 65537, of which --mb_port uses 65535 to 65536; allowed: another port',
    ]);
  });

  it('every pair is named at once', () => {
    const same = { ...allOn, website_port: '40000', meter_port: '40000', csip_notify_port: '40000' };
    expect(portLines(same)).to.deep.equal([
      '--meter_port: given 40000, which --website_port uses; allowed: another port',
      '--csip_notify_port: given 40000, which --website_port uses; allowed: another port',
      '--csip_notify_port: given 40000, which --meter_port uses; allowed: another port',
    ]);
  });

  const addresses: readonly (readonly [one: string, other: string, meet: boolean])[] = [
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['0.0.0.0', '127.0.0.2', true],
    ['0.0.0.0', '::1', false],
    ['0.0.0.0', '::', true],
    ['::', '127.0.0.1', true],
    ['::', '::1', true],
    ['::1', '[::1]', true],
    ['::1', '127.0.0.1', false],
  ];
  for (const [one, other, meet] of addresses)
    it(`a port on ${one} and on ${other}: ${meet ? 'conflict' : 'no conflict'}`, () => {
      for (const [website_ip, mb_host] of [
        [one, other],
        [other, one],
      ] as const)
        expect(portLines({ website_port: '40000', mb_port: '40000', website_ip, mb_host })).to.have.length(
          meet ? 1 : 0,
        );
    });

  it('the port that was given is named, not the default', () => {
    expect(portLines({ website_port: '8502' })).to.deep.equal([
      '--website_port: given 8502, which mb_port uses; allowed: another port',
    ]);
    expect(portLines({ mb_port: '8111' })).to.deep.equal([
      '--mb_port: given 8111, which website_port uses; allowed: another port',
    ]);
  });

  it('the port of a proxy is that of its map, else 5020', () => {
    const proxy = { proxy: 'map.json' };
    const map = (members: object) => ({ '/site/map.json': JSON.stringify({ name: 'Map', ...members }) });
    expect(portLines(proxy, map({ port: 8111 }))).to.deep.equal([
      '--proxy_port: 8111 of the proxy map, which website_port uses; allowed: another port',
    ]);
    expect(portLines({ ...proxy, proxy_port: '1502' }, map({ port: 8111 }))).to.deep.equal([]);
    expect(portLines({ ...proxy, website_port: '5020' }, map({}))).to.deep.equal([
      '--website_port: given 5020, which the proxy map uses; allowed: another port',
    ]);
    expect(portLines({ ...proxy, csip_client_enable: 'yes', csip_enc: 'no' }, map({ port: 5000 }))).to.deep.equal([
      'csip_website_port: 5000 by default, which the proxy map uses; allowed: another port',
    ]);
    expect(portLines({ ...proxy, website_port: '5020' })).to.deep.equal([]);
  });
});

describe('free ports in place of defaults', () => {
  const free = (given: Readonly<Partial<Record<SettingKey, unknown>>>) => [
    ...presetLayer({ usesFreePorts: true, isPaused: false }, new Map(Object.entries(given)) as never),
  ];

  it('are those of every listener that is on', () => {
    const given = {
      csip_client_enable: true,
      csip_subscribe: true,
      csip_notify_port: 7443,
      dnp3_enable: true,
      meter_port: 8600,
      proxy: 'string-inverter-basic',
    };
    expect(free(given)).to.deep.equal(listeners.map(({ port }) => [port, 0]));
    expect(free({})).to.deep.equal([
      ['website_port', 0],
      ['mb_port', 0],
    ]);
    expect(free({ mb_enable: false, meter_port: 8600 })).to.deep.equal([['website_port', 0]]);
  });

  it('leave a port that a URI names to the server', () => {
    const given = { csip_client_enable: true, csip_subscribe: true, csip_notify_uri: 'https://client.example:7443' };
    expect(free(given).map(([port]) => port)).not.to.include('csip_notify_port');
  });

  it('a listener is on with all that it needs', () => {
    const meter = listeners.find(({ port }) => port === 'meter_port')!;
    const opens = (mb_enable: boolean, meter_port: number | null) =>
      isOpened(meter, (key) => ({ mb_enable, meter_port })[key as 'mb_enable' | 'meter_port']);
    expect([opens(true, 0), opens(true, null), opens(false, 8600)]).to.deep.equal([true, false, false]);
  });
});
