import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { hex } from '../dnp3/rig/frames.ts';
import { TestMaster } from '../dnp3/rig/master.ts';
import { Capture } from './support/capture.ts';
import { Dnp3Bench } from './support/dnp3-bench.ts';
import { describeWith } from './support/peers.ts';
import { skip } from '../support/skip.ts';

const readsOfEveryKind = [
  '3c 02 06 3c 03 06 3c 04 06 3c 01 06',
  ...['01 01 06', '01 02 06', '0a 01 06', '0a 02 06', '14 01 06', '14 02 06', '14 05 06', '14 06 06'],
  ...['1e 01 06', '1e 02 06', '1e 03 06', '1e 04 06', '1e 05 06', '1e 06 06'],
  ...['28 01 06', '28 02 06', '28 03 06', '28 04 06', '22 01 06', '22 02 06', '22 03 06'],
  ...['1e 01 01 18 02 2c 02', '1e 01 00 00 06', '32 01 07 01', '00 fe 06'],
];
const eventReads = [
  ...['02 01 06', '02 02 06', '02 03 06', '20 01 06', '20 02 06', '20 03 06', '20 04 06', '20 05 06'],
  ...['20 06 06', '20 07 06', '20 08 06', '16 05 06', '17 05 06', '3c 02 07 05', '3c 03 08 10 00'],
];

describeWith(['tshark'], 'dissects a long session with an outstation', function () {
  this.timeout(120_000);
  let folder: string;
  let bench: Dnp3Bench;
  let file: string;

  async function packets(filter: string, ...fields: readonly string[]): Promise<string[][]> {
    const { stdout } = await promisify(execFile)(
      'tshark',
      [
        ...['-r', file, '-n', '-d', `tcp.port==${bench.port},dnp3`],
        ...['-Y', `tcp.port==${bench.port} && (${filter})`, '-T', 'fields', ...fields.flatMap((each) => ['-e', each])],
      ],
      { maxBuffer: 256 * 1024 * 1024 },
    );
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'));
  }

  /**
   * The dissector takes segments of one transport sequence number within 64 packets for parts of one message, and the
   * number repeats after 64 segments. Link statuses keep the packets ahead of the segments, several of which share one.
   */
  async function spread(master: TestMaster): Promise<void> {
    for (let i = 0; i < 10; i += 1) {
      master.sendLink(0xc9);
      await master.nextFrame(({ control }) => control === 0x0b);
    }
  }

  async function session(): Promise<number> {
    const master = await TestMaster.connect({ port: bench.port });
    master.sendLink(0xc0);
    await master.nextFrame(({ control }) => control === 0x00);
    await master.ask(2, hex('50 01 00 07 07 00'));
    await master.ask(23);
    await master.ask(2, hex('32 01 07 01 00 68 e5 cf 8b 01'));
    let answers = 0;
    for (const objects of readsOfEveryKind) {
      answers += (await master.request(1, hex(objects))).length;
      await spread(master);
    }
    for (const [i, objects] of eventReads.entries()) {
      await bench.post('registers/704', {
        points: { WMaxLimPct: 20 + i, WMaxLimPctEna: i % 2 ? 'DISABLED' : 'ENABLED' },
      });
      answers += (await master.request(1, hex(objects))).length;
    }
    await master.ask(7, hex('14 00 06'));
    answers += (await master.request(1, hex('15 00 06'))).length;
    await master.ask(3, hex('0c 01 28 01 00 11 00 03 01 64 00 00 00 64 00 00 00 00'));
    await master.ask(4, hex('0c 01 28 01 00 11 00 03 01 64 00 00 00 64 00 00 00 00'));
    await master.ask(5, hex('29 02 28 01 00 58 00 f4 01 00'));
    await master.ask(22, hex('3c 02 06 1e 00 01 94 00 95 00'));
    await master.ask(13);
    await master.close();
    return answers;
  }

  before(async function () {
    folder = await mkdtemp(join(tmpdir(), 'derbench-dnp3-'));
    file = join(folder, 'session.pcapng');
    bench = await Dnp3Bench.open(['--tick', '0.1', '-d', 'Batt-3Phase']);
    const capture = await Capture.start(file, bench.port);
    if (capture === null) skip(this, 'this user may not capture');
    const answers = await session();
    await capture.stop();
    expect(answers).to.be.greaterThan(readsOfEveryKind.length);
  });
  after(async () => {
    await bench.close();
    await rm(folder, { recursive: true });
  });

  it('without a malformed frame, a wrong checksum or an expert warning', async () => {
    const findings = await packets(
      // of the outstation: the dissector does not know ASSIGN_CLASS without data in a request
      `tcp.srcport == ${bench.port} && (_ws.malformed || dnp3.hdr.CRC.incorrect || ` +
        'dnp3.data_chunk.CRC.incorrect || _ws.expert.severity >= 0x600000) && ' +
        // repeated segments are of the kernel, and tell of a busy machine
        '!tcp.analysis.flags && !tcp.options.sack.dsack',
      'frame.number',
      '_ws.expert.message',
    );
    expect(findings).to.deep.equal([]);
  });

  it('with every object of every answer', async () => {
    const objects = new Set(
      (await packets('dnp3.al.func == 129', 'dnp3.al.obj')).flatMap(([seen = '']) => seen.split(',')).map(Number),
    );
    // group and variation in one number
    const wanted = [
      ...[0x0101, 0x0102, 0x0a01, 0x0a02, 0x1401, 0x1402, 0x1405, 0x1406],
      ...[0x1e01, 0x1e02, 0x1e03, 0x1e04, 0x1e05, 0x1e06, 0x2801, 0x2802, 0x2803, 0x2804],
      ...[0x2201, 0x2202, 0x2203, 0x3201, 0x0201, 0x0202, 0x2001, 0x2005, 0x2007, 0x1501, 0x3402],
    ];
    expect(wanted.filter((each) => !objects.has(each)).map((each) => each.toString(16))).to.deep.equal([]);
  });
});
