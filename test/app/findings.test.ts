import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkReportFiles, failingPeers, reportAll, writeFindings } from '../../src/app/finding-reports.ts';
import type { EndedFindings } from '../../src/app/finding-reports.ts';
import { createFindings, findingsBlock, isInLog } from '../../src/app/findings.ts';
import { createApp } from '../../src/app/build.ts';
import { configOfOptions } from '../../src/config/layers/load.ts';
import { SimError } from '../../src/core/errors.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { findingsSchema } from '../../src/config/layers/findings-block.ts';
import type { FindingsBlock } from '../../src/config/layers/findings-block.ts';
import type { AppConfig } from '../../src/config/settings/app-config.ts';
import { dropFault } from '../../src/fault-kinds/modbus-transport.ts';
import { maxAddressLength, maxMatches, maxPeerNameLength } from '../../src/core/findings/peers.ts';
import { maxReasonLength } from '../../src/core/findings/waivers.ts';
import { FindingRegistry } from '../../src/core/findings/registry.ts';
import { WireLog } from '../../src/core/wire/wire-log.ts';
import { FaultBench } from '../support/faults.ts';
import { FindingsRig, plainRule as row } from '../support/findings.ts';
import { adu, RawClient } from '../support/modbus-client.ts';
import { freePorts } from '../support/ports.ts';

const none = { csip: {}, ocpp: {}, dnp3: {}, common: {} };
const tables = {
  ...none,
  modbus: {
    bad: row,
    mild: { ...row, severity: 'remark', params: { gap_s: { default: 5, min: 1, max: 60, unit: 's', title: 'Gap' } } },
  },
} as const;

describe('findings of a simulator', () => {
  let rig: FindingsRig;
  let folder: string;

  beforeEach(() => {
    rig = new FindingsRig();
    folder = mkdtempSync(join(tmpdir(), 'derbench-findings-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const block: FindingsBlock = {
    rules: { 'modbus.bad': { enabled: false, severity: 'risk' }, 'modbus.mild': { params: { gap_s: 7 } } },
    waivers: [
      { rule: 'modbus.bad', peer: 'A', reason: 'agreed', until: '2027-01-01T00:00:00.000Z' },
      { rule: 'modbus.mild', reason: 'agreed' },
    ],
    peers: [{ name: 'A', match: [{ protocol: 'modbus', address: '127.0.0.2' }] }],
  };

  it('follow the block of the configuration, which they give back', () => {
    const findings = createFindings(rig.options, block, tables);
    expect(findings.ruleOf('modbus.bad')).to.include({ isEnabled: false, severity: 'risk' });
    expect(findings.ruleOf('modbus.mild')?.param('gap_s')).to.equal(7);
    expect(findings.peers.nameOf(findings.peer({ protocol: 'modbus', address: '127.0.0.2' }))).to.equal('A');
    expect(findingsBlock(findings)).to.deep.equal(block);
    expect(findingsBlock(createFindings(rig.options, {}, tables))).to.deep.equal({});
  });

  const settings = (more: Partial<AppConfig['findings']> = {}): AppConfig['findings'] => ({
    enabled: true,
    reports: [],
    failOn: 'never',
    block: {},
    ...more,
  });

  /** Findings of a simulator whose peer has broken `bad` or `mild`. */
  function ended(rules: readonly ('bad' | 'mild')[], more: Partial<AppConfig['findings']> = {}): EndedFindings {
    const { registry, wall } = new FindingsRig();
    const handles = registry.rules('modbus', tables.modbus);
    const peer = registry.peer({ protocol: 'modbus', address: `10.0.0.${rules.length}` });
    peer.isValid = true;
    for (const name of rules) handles[name].broken(peer, 0, () => ({ text: 'wrong' }));
    const reports = reportAll({
      findings: registry,
      faults: { active: [], ended: [] },
      version: '1',
      buildId: 'b',
      startedAtMs: 0,
      nowMs: () => wall.nowMs(),
      dateMs: (t) => t / 1000,
    });
    const peers = registry.peers.groups().map(({ name }) => ({ name }));
    return { reports, peers, settings: settings(more) };
  }

  it('give back a block that is taken again, also with the longest names that REST takes', () => {
    const findings = createFindings(rig.options, {}, tables);
    const match = Array.from({ length: maxMatches }, (_, n) => ({
      protocol: 'modbus' as const,
      address: String(n).padStart(maxAddressLength, 'x'),
    }));
    findings.peers.setName({ name: 'n'.repeat(maxPeerNameLength), match });
    const waiver = { rule: 'modbus.bad', peer: match[0]!.address, reason: 'r'.repeat(maxReasonLength), untilMs: 0 };
    findings.waivers.add(waiver);
    const given = findingsBlock(findings);
    expect(findingsSchema.parse(given)).to.deep.equal(given);
  });

  it('are written into files by their extension, with the peers of all simulators that name the file', () => {
    const files = ['a.html', 'a.xml', 'a.json', 'a.txt'].map((name) => join(folder, name));
    const own = join(folder, 'own.json');
    const all = [ended(['bad'], { reports: files }), ended(['bad', 'mild'], { reports: [...files, own] })];
    expect(writeFindings(all)).to.deep.equal([]);
    const texts = files.map((file) => readFileSync(file, 'utf8'));
    expect(texts.map((text) => text.slice(0, 9))).to.deep.equal(['<!doctype', '<?xml ver', '{\n  "form', 'Findings ']);
    for (const text of texts) expect(text).to.contain('10.0.0.1').and.contain('10.0.0.2');
    expect(readFileSync(own, 'utf8')).to.contain('10.0.0.2').and.not.contain('10.0.0.1');
    expect(texts[1]).to.contain('failures="1"');
  });

  it('have an issue for each file that cannot be written, and write the others', () => {
    const [lost, file] = [join(folder, 'none/a.txt'), join(folder, 'a.txt')];
    const issues = writeFindings([ended([], { reports: [lost, file] })]);
    expect(issues).to.deep.equal([
      { name: '--findings_report', detail: `${lost} cannot be written: there is no such file` },
    ]);
    expect(readFileSync(file, 'utf8')).to.contain('Findings');
  });

  it('are refused at the start where they could not be written', () => {
    const [lost, file] = [join(folder, 'none/a.txt'), join(folder, 'a.txt')];
    expect(() => {
      checkReportFiles([lost, file]);
    })
      .to.throw(SimError, 'could not be written')
      .with.deep.property('issues', [
        { name: '--findings_report', detail: `${lost} cannot be written: there is no such file` },
      ]);
    expect(() => {
      checkReportFiles([folder]);
    }).to.throw(SimError);
    checkReportFiles([file]);
    expect(existsSync(file)).to.equal(false);
  });

  it('fail the process from the severity on that the settings name', () => {
    expect(failingPeers(ended(['bad', 'mild']))).to.deep.equal([]);
    expect(failingPeers(ended(['mild'], { failOn: 'risk' }))).to.deep.equal([]);
    expect(failingPeers(ended(['bad', 'mild'], { failOn: 'risk' }))).to.deep.equal([
      'findings: 10.0.0.2 has 1 violation: modbus.bad',
    ]);
    expect(failingPeers(ended(['bad', 'mild'], { failOn: 'remark' }))).to.deep.equal([
      'findings: 10.0.0.2 has 1 violation, 1 remark: modbus.bad, modbus.mild',
    ]);
  });

  it('say which messages the log still has, and which faults there were', () => {
    const wireLog = new WireLog({ clock: rig.wall, sim: () => rig.options.sim(), log: { error: () => undefined } });
    const channel = wireLog.channel<null, null>({
      protocol: 'modbus',
      key: '',
      entries: 10,
      bytes: 100,
      decode: () => null,
    });
    channel.record(true, { source: 'rest' });
    const message = { direction: 'in', peer: '', deviceIndex: null, kind: '', summary: '', facts: null } as const;
    const ids = [1, 2].map((octet) => channel.push({ ...message, raw: Buffer.from([octet]) }));
    const registry = new FindingRegistry({ ...rig.options, isKept: (one) => isInLog(wireLog, one) });
    const { bad } = registry.rules('modbus', tables.modbus);
    const peer = registry.peer({ protocol: 'modbus', address: '127.0.0.2' });
    peer.isValid = true;
    for (const id of [...ids, 3])
      bad.broken(peer, 0, () => ({ text: 'wrong', message: { channel: 'modbus', id } }), `${id}`);
    const bench = new FaultBench();
    const fault = bench.inject(dropFault);
    const reports = reportAll({
      findings: registry,
      faults: { active: [fault], ended: [{ fault, end: 'cleared', endedAtMs: 0 }] },
      version: '1',
      buildId: 'b',
      startedAtMs: 0,
      nowMs: () => rig.wall.nowMs(),
      dateMs: (t) => t / 1000,
    });
    expect(reports.faults).to.deep.equal(['modbus.drop']);
    expect(reports.peers[0]?.broken[0]?.evidence.map(({ message_kept: isKept }) => isKept)).to.deep.equal([
      true,
      true,
      false,
    ]);
  });

  it('stand in a recording beside the request that proves them', async () => {
    const port = await freePorts(1);
    const app = createApp(configOfOptions({ mb_port: port, website_port: 0 }), {
      logBook: createLogBook({ write: () => undefined }),
    });
    const perform = (method: string, path: string, body?: object) =>
      app.api.perform({ method, path, ...(body && { body }), by: { source: 'rest' } });
    const lines = async (query: string) => {
      const { body } = await perform('GET', `/recorder/download${query}`);
      const texts = String(body).trimEnd().split('\n').slice(1);
      return texts.map((text) => JSON.parse(text));
    };
    await app.start();
    try {
      await perform('POST', '/recorder', { enabled: true });
      const measured = app.plant.device(0).bank.layout.named('701.W')?.address ?? 0;
      const client = await RawClient.open(port);
      await client.request(adu(1, 1, `06${measured.toString(16)}0032`));
      client.destroy();
      const request = (await lines('?protocol=modbus')).find(({ direction }) => direction === 'in');
      const [finding] = await lines('?protocol=findings');
      expect(finding?.['details']).to.include({
        rule: 'modbus.write_read_only',
        channel: 'modbus',
        message_id: request?.['message_id'],
      });
      expect(await lines('')).to.have.length(3);
      expect((await perform('GET', '/recorder/download?format=pcap&protocol=findings')).status).to.equal(422);
    } finally {
      await app.stop();
    }
  });

  it('wait for nothing at a device that was removed', async () => {
    const port = await freePorts(2);
    const app = createApp(configOfOptions({ N: 2, mb_port: port, website_port: 0 }), {
      logBook: createLogBook({ write: () => undefined }),
    });
    await app.start();
    const limit = app.plant.device(1).bank.layout.named('704.WMaxLimPct')?.address ?? 0;
    const client = await RawClient.open(port + 1);
    await client.request(adu(1, 1, `06${limit.toString(16)}0032`));
    // the enable and the read-back
    expect(app.findings.pending).to.equal(2);
    await app.api.perform({ method: 'DELETE', path: '/devices/1', by: { source: 'rest' } });
    expect(app.findings.pending).to.equal(0);
    client.destroy();
    await app.stop();
  });
});
