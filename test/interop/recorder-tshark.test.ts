import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { hex } from '../dnp3/rig/frames.ts';
import { TestMaster } from '../dnp3/rig/master.ts';
import { ask } from '../support/http.ts';
import { Dnp3Bench } from './support/dnp3-bench.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

describeWith(['tshark', 'pysunspec2'], 'dissects the capture file of the recorder', function () {
  this.timeout(120_000);
  let folder: string;
  let file: string;
  let bench: Dnp3Bench;
  let jsonEntries: number;

  /** Fields of the packets that pass a display filter, with all checksums verified. */
  async function packets(filter: string, ...fields: readonly string[]): Promise<string[][]> {
    const { stdout } = await promisify(execFile)(
      'tshark',
      [
        ...[
          '-r',
          file,
          '-n',
          '-o',
          'tcp.check_checksum:TRUE',
          '-o',
          'ip.check_checksum:TRUE',
          '-Y',
          filter,
          '-T',
          'fields',
        ],
        ...fields.flatMap((field) => ['-e', field]),
      ],
      { maxBuffer: 64 * 1024 * 1024 },
    );
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'));
  }

  async function session(): Promise<void> {
    const master = new PythonPeer('sunspec_master', bench.simulator.modbusPort);
    await master.ask('scan');
    await master.ask('write_model', { model: 704, values: { WMaxLimPctEna: 1, WMaxLimPct: 60 } });
    expect(await master.exceptionOf('write_point', { model: 704, path: 'WMaxLimPct', value: 200 })).to.equal(3);
    await master.stop();
    const scada = await TestMaster.connect({ port: bench.port });
    // the dissector does not know the common time of a clock that has not been set (g51v2)
    await scada.ask(2, hex('32 01 07 01 00 68 e5 cf 8b 01'));
    await scada.request(1, hex('3c 01 06'));
    await scada.ask(5, hex('29 02 28 01 00 58 00 f4 01 00'));
    await scada.request(1, hex('1e 03 06'));
    await scada.close();
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-recorder-'));
    file = join(folder, 'recording.pcap');
    bench = await Dnp3Bench.open(['-d', 'Batt-3Phase']);
    await bench.post('recorder', { enabled: true });
    await session();
    await bench.post('recorder', { enabled: false });
    const { httpPort } = bench.simulator;
    const answer = await fetch(`http://127.0.0.1:${httpPort}/api/sim/recorder/download?format=pcap`);
    expect(answer.headers.get('content-type')).to.equal('application/vnd.tcpdump.pcap');
    await writeFile(file, Buffer.from(await answer.arrayBuffer()));
    const { text } = await ask(httpPort, '/api/sim/recorder/download');
    const [, ...entries] = text.trimEnd().split('\n');
    // findings are no packets
    jsonEntries = entries.filter((line) => JSON.parse(line).kind !== 'finding').length;
  });
  after(async () => {
    await bench.close();
    await rm(folder, { recursive: true });
  });

  it('with as many requests as answers of Modbus, on its usual port', async () => {
    const requests = await packets('mbtcp && tcp.dstport == 502', 'mbtcp.trans_id');
    const answers = await packets('mbtcp && tcp.srcport == 502', 'mbtcp.trans_id');
    expect(requests.length).to.be.greaterThan(20);
    expect(answers).to.deep.equal(requests);
    expect(await packets('modbus.exception_code', 'modbus.exception_code')).to.deep.equal([['3']]);
  });

  it('with fragments of DNP3 in frames with right checksums', async () => {
    const functions = (await packets('dnp3.al.func', 'dnp3.al.func')).map(([code]) => Number(code));
    expect(functions).to.include.members([1, 5, 129]);
    expect(functions.filter((code) => code === 129)).to.have.length.at.least(3);
  });

  it('with every message, and nothing that it cannot dissect', async () => {
    const carried = await packets('mbtcp || dnp3.al.func', 'frame.number');
    expect(carried).to.have.length(jsonEntries);
    expect(await packets('tcp.len > 0 && !mbtcp && !dnp3', 'frame.number')).to.deep.equal([]);
  });

  it('without malformed packets, warnings, wrong checksums or gaps in the sequence', async () => {
    const bad = [
      '_ws.malformed',
      '_ws.expert.severity >= 0x600000',
      'dnp3.hdr.CRC.incorrect',
      'dnp3.data_chunk.CRC.incorrect',
      'tcp.checksum.status == 0',
      'ip.checksum.status == 0',
      'tcp.analysis.lost_segment',
      'tcp.analysis.retransmission',
      'tcp.analysis.out_of_order',
    ];
    expect(await packets(bad.join(' || '), 'frame.number', '_ws.col.Info', '_ws.expert.message')).to.deep.equal([]);
  });
});
