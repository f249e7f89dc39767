import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { errorText } from '../../src/core/errors.ts';
import { compareAnswer, exchangesOf } from '../../src/recorder/replay/modbus-compare.ts';
import type { RecordedExchange } from '../../src/recorder/replay/modbus-compare.ts';
import { parseReplayArguments } from '../../src/recorder/replay/arguments.ts';
import { replayCommand } from '../../src/recorder/replay/command.ts';
import { defaultReplayOptions } from '../../src/recorder/replay/options.ts';
import { linesOf, readRecording } from '../../src/recorder/replay/recording.ts';
import { Findings } from '../../src/recorder/replay/report.ts';
import { adu } from '../support/modbus-client.ts';

/** A read of three registers: 701.W, and the two of 701.Hz. */
const read: RecordedExchange = {
  n: 14,
  request: {} as never,
  unitId: 1,
  functionCode: 3,
  address: 40_080,
  count: 4,
  points: new Map([
    ['701.W', 40_080],
    ['701.Hz', 40_081],
    ['702.WMaxRtg', 40_083],
  ]),
  answer: adu(7, 1, '03080fa000001770 03e8'.replace(' ', '')),
  noAnswer: null,
};
const place = 'request 14, read of 40080..40083 by unit 1';

function found(pdu: string, exchange = read, rules: Partial<typeof defaultReplayOptions> = {}): readonly string[] {
  const findings = new Findings();
  const octets = pdu === '' ? Buffer.alloc(0) : adu(7, 1, pdu);
  compareAnswer(exchange, { octets, closed: false }, { ...defaultReplayOptions, ...rules }, findings);
  return [...findings.differences, ...(findings.ignored > 0 ? [`${findings.ignored} ignored`] : [])];
}

describe('replay of Modbus', () => {
  it('finds nothing where nothing differs', () => {
    expect(found('03080fa00000177003e8')).to.deep.equal([]);
  });

  it('names registers, points and values that differ', () => {
    expect(found('03080fa00000177003e7')).to.deep.equal([`${place}: register 40083 (702.WMaxRtg) was 1000, is 999`]);
    const strict = { measurementTolerance: 'exact' } as const;
    expect(found('0308f0600000177103e8', read, strict)).to.deep.equal([
      `${place}: register 40080 (701.W) was 4000, is -4000`,
      `${place}: registers 40081..40082 (701.Hz) were 6000, are 6001`,
    ]);
  });

  it('lets measurements move: at will, by a tolerance, and never to "not implemented"', () => {
    expect(found('03080fa10000177003e8')).to.deep.equal(['1 ignored']);
    expect(found('03080fc80000177003e8', read, { measurementTolerance: 1 })).to.deep.equal(['1 ignored']);
    expect(found('03080fc90000177003e8', read, { measurementTolerance: 1 })).to.have.length(1);
    expect(found('030880000000177003e8')).to.deep.equal([`${place}: register 40080 (701.W) was 4000, is -32768`]);
    for (const ignore of ['702.WMaxRtg', '702', 'WMaxRtg'])
      expect(found('03080fa00000177003e7', read, { ignore: [ignore] })).to.deep.equal(['1 ignored']);
  });

  describe('of a point that is read in part', () => {
    /** Values of the registers behind the count of octets. */
    const answerOf = (...words: readonly number[]) =>
      `03${(2 * words.length).toString(16).padStart(2, '0')}` +
      words.map((word) => word.toString(16).padStart(4, '0')).join('');
    const asked = (points: Readonly<Record<string, number>>, address: number, ...words: readonly number[]) => ({
      ...read,
      address,
      count: words.length,
      points: new Map(Object.entries(points)),
      answer: adu(7, 1, answerOf(...words)),
    });
    const exact = { measurementTolerance: 'exact' } as const;
    const one = { measurementTolerance: 1 } as const;

    it('names the part, at its end as at its start, and gives it no sign and no meaning of the whole', () => {
      const end = asked({ '701.W': 10, '701.Hz': 11 }, 10, 4000, 0);
      expect(found(answerOf(4000, 0xffff), end, exact)).to.deep.equal([
        'request 14, read of 10..11 by unit 1: register 11 (part of 701.Hz) was 0, is 65535',
      ]);
      const start = asked({ '701.Hz': 11, '702.WMaxRtg': 13 }, 12, 6000, 1000);
      expect(found(answerOf(6001, 1000), start, exact)).to.deep.equal([
        'request 14, read of 12..13 by unit 1: register 12 (part of 701.Hz) was 6000, is 6001',
      ]);
      const middle = asked({ '701.TotWhInj': 20 }, 21, 1, 2);
      expect(found(answerOf(1, 3), middle, exact)).to.deep.equal([
        'request 14, read of 21..22 by unit 1: registers 21..22 (part of 701.TotWhInj) were 65538, are 65539',
      ]);
    });

    it('takes a part of floating point as registers', () => {
      for (const name of ['113.W', '64413.IV[3].P']) {
        const end = asked({ [name]: 10 }, 10, 0x4479);
        expect(found(answerOf(0x447a), end, exact), name).to.deep.equal([
          `request 14, read of 10 by unit 1: register 10 (part of ${name}) was 17529, is 17530`,
        ]);
        const start = asked({ [name]: 10 }, 11, 0x8000);
        expect(found(answerOf(0x4000), start, exact), name).to.have.length(1);
        const whole = asked({ [name]: 10 }, 10, 0x447a, 0);
        expect(found(answerOf(0x447a, 0x8000), whole, exact), name).to.deep.equal([
          `request 14, read of 10..11 by unit 1: registers 10..11 (${name}) were 1000, are 1002`,
        ]);
      }
    });

    it('lets it move with its measurement, whatever the tolerance; a setting does not', () => {
      const measured = asked({ '701.Hz': 10 }, 10, 0);
      expect(found(answerOf(0x1234), measured)).to.deep.equal(['1 ignored']);
      expect(found(answerOf(0x1234), measured, one)).to.deep.equal(['1 ignored']);
      const set = asked({ '704.WSet': 10 }, 10, 0);
      expect(found(answerOf(1), set)).to.have.length(1);
    });

    it('ends a point where its registers end, before some that have no name', () => {
      const before = asked({ '701.W': 10, '701.VA': 13 }, 10, 0xf060, 1, 2, 3);
      expect(found(answerOf(0xf061, 1, 9, 3), before, exact)).to.deep.equal([
        'request 14, read of 10..13 by unit 1: register 10 (701.W) was -4000, is -3999',
        'request 14, read of 10..13 by unit 1: register 12 was 2, is 9',
      ]);
    });

    it('takes a point of no table up to the next one', () => {
      const custom = asked({ battery_power: 10, mode: 12 }, 10, 0, 5, 1);
      expect(found(answerOf(0, 6, 1), custom)).to.deep.equal([
        'request 14, read of 10..12 by unit 1: registers 10..11 (battery_power) were 5, are 6',
      ]);
    });
  });

  it('says what became of an answer as a whole', () => {
    expect(found('8302')).to.deep.equal([
      `${place}: was answered with function 3 (03080fa00000177003e8), is answered with exception 2 (illegal data address)`,
    ]);
    expect(found('')).to.deep.equal([`${place}: was answered with function 3 (03080fa00000177003e8), is not answered`]);
    expect(found('03020fa0')).to.deep.equal([`${place}: the answer had 4 registers, has 1`]);
    const silent = { ...read, answer: null, noAnswer: 'suppressed' };
    expect(found('', silent)).to.deep.equal([]);
    expect(found('8302', silent)).to.deep.equal([
      `${place}: was not answered (suppressed), is answered with exception 2 (illegal data address)`,
    ]);
  });

  it('leaves out what it cannot replay, and says so', async () => {
    const message = { wall_ms: 0, sim_s: 0, protocol: 'modbus', key: '', direction: 'in', peer: 'p', device_index: 0 };
    const entry = { ...message, kind: 'request', cut: false, encoding: 'base64', raw: '' };
    const { messages } = await readRecording(
      [
        { recording: 'derbench', format: 1 },
        { ...entry, id: 1, details: { exchange_id: 1, framing: 'rtu', interface: 'modbus_rtu' } },
        { ...entry, id: 2, details: { exchange_id: 2, framing: 'mbap', interface: 'sunspec_client' } },
        { ...entry, id: 3, details: { exchange_id: 3, framing: 'mbap', interface: 'modbus_tcp', function: 3 } },
      ].map((line) => JSON.stringify(line)),
    );
    const { exchanges, notes } = exchangesOf(messages);
    expect(exchanges).to.have.length(1);
    expect(notes).to.deep.equal([
      'left out: 1 request of serial lines or with RTU framing, which are not replayed',
      'left out: 1 request of the built-in SunSpec client, whose devices are not part of a replay',
    ]);
  });

  it('refuses files that are no recording with the line', async () => {
    const refusal = async (...lines: string[]) => {
      try {
        await readRecording(lines);
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(await refusal()).to.equal('line 1 of the recording is missing: the recording is empty');
    expect(await refusal('x')).to.equal('line 1 of the recording is no JSON');
    expect(await refusal('{}')).to.equal('line 1 of the recording is not the header of a recording of derbench');
    expect(await refusal('{"recording":"derbench","format":9}')).to.include('has the format 9; this version reads 1');
    expect(await refusal('{"recording":"derbench","format":1}', '', '{"id":1}')).to.include('line 3 of the recording');
  });

  it('reads lines from pieces, and refuses one that is too long before it has ended', async () => {
    async function* pieces(...texts: readonly string[]) {
      await Promise.resolve();
      yield* texts;
    }
    const read = async (...texts: readonly string[]) => {
      const lines: string[] = [];
      for await (const line of linesOf(pieces(...texts))) lines.push(line);
      return lines;
    };
    expect(await read('a\nb', 'c\r', '\n\nd')).to.deep.equal(['a', 'bc', '', 'd']);
    expect(await read('a\n')).to.deep.equal(['a']);
    expect(await read()).to.deep.equal([]);
    let given = 0;
    async function* endless() {
      await Promise.resolve();
      yield 'a\n';
      for (; ; given += 1) yield 'x'.repeat(1024 * 1024);
    }
    const reading = readRecording(linesOf(endless()));
    expect(await reading.catch(errorText)).to.equal('line 1 of the recording is no JSON');
    const unread = linesOf(endless());
    await unread.next();
    expect(await unread.next().catch(errorText)).to.equal('line 2 of the recording has more than 8388608 characters');
    expect(given).to.be.at.most(9);
  });

  it('takes addresses, by device too, and refuses what it does not know', async () => {
    const { target, options } =
      parseReplayArguments([
        'f',
        '--modbus',
        'h:1',
        '--modbus',
        '2=[::1]:3',
        '--modbus',
        'proxy=p:4',
        '--pace',
        'sim',
      ]) ?? {};
    expect(target?.modbus?.all).to.deep.equal({ host: 'h', port: 1 });
    expect(target?.modbus?.proxy).to.deep.equal({ host: 'p', port: 4 });
    expect([...(target?.modbus?.byDevice ?? [])]).to.deep.equal([[2, { host: '::1', port: 3 }]]);
    expect(options?.pace).to.equal('sim');
    for (const wrong of [
      [],
      ['f'],
      ['.', '--modbus', 'h:1'],
      ['f', '--modbus', 'x=h:1'],
      ['f', '--modbus', '=h:1'],
      ['f', '--modbus'],
      ['f', '--modbus', 'h:1', '--exact=yes'],
      ['f', '--modbus', 'h:1', '--tolerance', '-1'],
      ['f', '--modbus', 'h:1', '--rate', '1', '--rate', '2'],
      ['f', 'g', '--modbus', 'h:1'],
      ['f', '--modbus', 'h'],
      ['f', '--modbus', 'h:1', '--pace', 'slow'],
      ['f', '--modbus', 'h:1', '--exact', '--tolerance', '1'],
      ['f', '--modbus', 'h:1', '--tolerance', ''],
      ['f', '--nonsense'],
      ['/nowhere/at/all', '--modbus', '127.0.0.1:1'],
    ]) {
      const errors: string[] = [];
      const io = { out: () => undefined, error: (line: string) => errors.push(line) };
      expect(await replayCommand(wrong, io), wrong.join(' ')).to.equal(2);
      expect(errors).to.have.length(1);
      expect(errors[0])
        .to.match(/^derbench replay: /)
        .and.not.match(/EISDIR|ENOENT|positional/);
    }
  });

  describe('from a file', () => {
    let folder: string;
    let server: Server;
    const request = { wall_ms: 0, sim_s: 0, protocol: 'modbus', key: '', direction: 'in', peer: 'p', device_index: 0 };
    const facts = { exchange_id: 1, framing: 'mbap', interface: 'modbus_tcp', function: 3, unit_id: 1 };
    const frame = adu(1, 1, '0380e80001').toString('base64');
    const asked = { ...request, id: 1, kind: 'request', cut: false, encoding: 'base64', raw: frame, details: facts };
    const answered = {
      ...asked,
      id: 2,
      direction: 'out',
      kind: 'answer',
      raw: adu(1, 1, '03020007').toString('base64'),
    };

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'derbench-replay-'));
      server = createServer((socket) => socket.on('data', () => socket.write(adu(1, 1, '03020007'))));
      await once(server.listen(0, '127.0.0.1'), 'listening');
    });
    after(async () => {
      server.close();
      await rm(folder, { recursive: true });
    });

    async function replayed(entries: readonly object[], where = '', bom = '', ...more: readonly string[]) {
      const file = join(folder, 'recording.jsonl');
      const lines = [{ recording: 'derbench', format: 1 }, ...entries].map((line) => JSON.stringify(line));
      await writeFile(file, `${bom}${lines.join('\n')}\n`);
      const [out, errors]: string[][] = [[], []];
      const io = { out: (line: string) => out!.push(line), error: (line: string) => errors!.push(line) };
      const address = `${where}127.0.0.1:${(server.address() as AddressInfo).port}`;
      return { code: await replayCommand([file, '--modbus', address, ...more], io), out: out!, errors: errors! };
    }

    it('takes a byte order mark, and names protocols that it does not know', async () => {
      const { code, out } = await replayed([asked, answered, { ...asked, protocol: 'mqtt' }], '', '\uFEFF');
      expect(out).to.deep.equal([
        'left out: 1 message of "mqtt", a protocol that is not known',
        'modbus: 1 request replayed, 0 differences',
      ]);
      expect(code).to.equal(0);
    });

    it('passes over findings without a word', async () => {
      const finding = { ...request, protocol: 'findings', id: 3, kind: 'finding', encoding: 'utf8', raw: '' };
      const { code, out } = await replayed([finding, asked, answered, finding]);
      expect(out).to.deep.equal(['modbus: 1 request replayed, 0 differences']);
      expect(code).to.equal(0);
    });

    it('is no success when nothing was compared', async () => {
      const error = 'derbench replay: nothing of modbus was compared, so the replay is no success';
      const elsewhere = await replayed([asked, answered], '5=');
      expect([elsewhere.code, ...elsewhere.errors]).to.deep.equal([2, error]);
      expect(elsewhere.out).to.deep.equal([
        'modbus: the address of device 5 is not used: no recorded connection is one to that device',
        'modbus: left out: 1 request to devices without an address',
        'modbus: 0 requests replayed, 0 differences',
      ]);
      const bare = await replayed([{ ...asked, details: undefined }]);
      expect([bare.code, ...bare.errors]).to.deep.equal([2, error]);
      const unanswered = await replayed([asked]);
      expect([unanswered.code, ...unanswered.errors]).to.deep.equal([2, error]);
    });

    it('takes names to be ignored that a point can have', async () => {
      for (const name of ['701', '701.W', 'W', '705.Crv[1].Pt[0].V', '705.Crv.Pt.V', '714.Prt.DCW'])
        expect((await replayed([asked, answered], '', '', '--ignore', name)).code, name).to.equal(0);
      for (const name of ['', '999', '701.', '__proto__', 'AI 536', '701.W,'])
        expect((await replayed([asked, answered], '', '', '--ignore', name)).code, name).to.equal(2);
      const { errors } = await replayed([asked, answered], '', '', '--ignore', 'W,701.Vr');
      expect(errors[0]).to.contain('nothing that is replayed has the name "701.Vr"');
    });

    it('refuses octets that are no base64', async () => {
      for (const raw of ['!!!', 'A', 'AA AA']) {
        const { code, errors } = await replayed([{ ...asked, raw }]);
        expect(errors, raw).to.deep.equal(['derbench replay: line 2 of the recording has a raw that is no base64']);
        expect(code).to.equal(2);
      }
    });
  });

  it('says in words of its own what is wrong with an argument', async () => {
    const said = async (...argv: string[]) => {
      const errors: string[] = [];
      await replayCommand(argv, { out: () => undefined, error: (line) => errors.push(line) });
      return errors
        .join()
        .replace('derbench replay: ', '')
        .replace('; derbench replay --help explains the arguments', '');
    };
    const to = ['--modbus', '127.0.0.1:1'];
    expect(await said('/nowhere/x.jsonl', ...to)).to.equal('/nowhere/x.jsonl cannot be read: there is no such file');
    expect(await said('.', ...to)).to.equal('. cannot be read: it is a directory');
    expect(await said('f', ...to, '--tolerence', '3')).to.equal('--tolerence is no option; did you mean --tolerance?');
    expect(await said('f', ...to, '--tolerance')).to.equal('--tolerance lacks its value');
    expect(await said('f', ...to, '--tolerance', '-1')).to.equal(
      '--tolerance must be a number from 0 to 1000; given "-1"',
    );
    expect(await said('f', ...to, '--limit=1', '--limit=2')).to.equal('--limit is given twice');
    expect(await said('f', ...to, '-x')).to.equal('-x is no option');
    expect(await said('f', '--modbus', 'x=127.0.0.1:1')).to.equal(
      '--modbus takes [INDEX=]HOST:PORT; "x" is no index of a device, proxy or meter',
    );
  });
});
