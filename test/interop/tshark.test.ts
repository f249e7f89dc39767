import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { Capture } from './support/capture.ts';
import { PythonPeer, describeWith } from './support/peers.ts';
import { skip } from '../support/skip.ts';

const warning = 0x600000;

describeWith(['tshark', 'pysunspec2', 'pymodbus'], 'dissects the traffic of both masters', () => {
  let simulator: RunningSimulator;
  let folder: string;
  let file: string;

  /** Rows of fields of the packets that pass a display filter. */
  async function packets(filter: string, ...fields: readonly string[]): Promise<string[][]> {
    const port = simulator.modbusPort;
    const { stdout } = await promisify(execFile)(
      'tshark',
      [
        // the dissector distinguishes requests from answers by its port preference, not by "decode as"
        '-r',
        file,
        '-n',
        '-d',
        `tcp.port==${port},mbtcp`,
        '-o',
        `mbtcp.tcp.port:${port}`,
        '-Y',
        `tcp.port==${port} && (${filter})`,
        '-T',
        'fields',
        ...fields.flatMap((field) => ['-e', field]),
      ],
      { maxBuffer: 64 * 1024 * 1024 },
    );
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'));
  }

  async function pysunspec2Session(): Promise<void> {
    const master = new PythonPeer('sunspec_master', simulator.modbusPort);
    await master.ask('scan');
    await master.ask('write_model', {
      model: 704,
      values: { WMaxLimPctEna: 1, WMaxLimPct: 60, WMaxLimPctRvrtTms: 30 },
    });
    await master.ask('read', { model: 704 });
    expect(await master.exceptionOf('write_point', { model: 704, path: 'WMaxLimPct', value: 200 })).to.equal(3);
    await master.stop();
  }

  async function pymodbusSession(): Promise<void> {
    const master = new PythonPeer('modbus_master', simulator.modbusPort);
    await master.ask('read_input', { address: 40_000, count: 125 });
    await master.ask('pipeline', { addresses: Array.from({ length: 40 }, (_, i) => 40_000 + i) });
    expect(await master.exceptionOf('write_one', { address: 40_000, value: 1 })).to.equal(2);
    expect(await master.exceptionOf('read_any', { address: 40_000, count: 126 })).to.equal(3);
    expect(await master.exceptionOf('other_function', { code: 1 })).to.equal(1);
    await master.stop();
  }

  before(async function () {
    simulator = await startSimulator();
    folder = await mkdtemp(join(tmpdir(), 'derbench-capture-'));
    file = join(folder, 'modbus.pcapng');
    const capture = await Capture.start(file, simulator.modbusPort);
    if (!capture) skip(this, 'this user may not capture on loopback (run as root, or give dumpcap the rights)');
    await pysunspec2Session();
    await pymodbusSession();
    await capture.stop();
  });
  after(async () => {
    expect(await simulator.stop()).to.equal(0);
    await rm(folder, { recursive: true, force: true });
  });

  it('as Modbus TCP, with an answer to every request', async () => {
    const fields = ['mbtcp.trans_id', 'modbus.func_code'] as const;
    const count = (rows: string[][]) => rows.reduce((sum, [ids = '']) => sum + ids.split(',').length, 0);
    const requests = await packets(`mbtcp && tcp.dstport == ${simulator.modbusPort}`, ...fields);
    const answers = await packets(`mbtcp && tcp.srcport == ${simulator.modbusPort}`, ...fields);
    expect(count(requests)).to.be.greaterThan(100);
    expect(count(answers)).to.equal(count(requests));
    const codes = new Set(requests.flatMap(([, list = '']) => list.split(',')));
    expect([...codes]).to.include.members(['1', '3', '4', '6', '16']);
    const exceptionCodes = (await packets('modbus.exception_code', 'modbus.exception_code')).flatMap(([list = '']) =>
      list.split(','),
    );
    expect(exceptionCodes.sort()).to.deep.equal(['1', '2', '3', '3']);
  });

  it('without payload that it cannot dissect', async () => {
    expect(await packets('tcp.len > 0 && !mbtcp', 'frame.number', '_ws.col.Info')).to.deep.equal([]);
  });

  it('without malformed packets, warnings or errors', async () => {
    const filter = `_ws.malformed || _ws.expert.severity >= ${warning}`;
    expect(await packets(filter, 'frame.number', '_ws.col.Info', '_ws.expert.message')).to.deep.equal([]);
  });
});
