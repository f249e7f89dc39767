import { expect } from 'chai';
import fc from 'fast-check';
import {
  createLogBook,
  isPrintable,
  logLevels,
  printable,
  printableLines,
  silentLogger,
} from '../../../src/core/log/log.ts';
import type { LogBook, LogLevel } from '../../../src/core/log/log.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { codePoint } from '../../support/arbitrary.ts';
import { holds } from '../../support/property.ts';
import { HandWall } from '../../support/wall.ts';

const noon = Date.UTC(2030, 5, 1, 12);

function make(options: { level?: LogLevel; format?: 'text' | 'json' } = {}): { book: LogBook; lines: string[] } {
  const lines: string[] = [];
  const book = createLogBook({
    ...options,
    write: (line) => {
      lines.push(line);
    },
    clock: new HandWall(noon),
  });
  return { book, lines };
}

describe('log: printable', () => {
  it('leaves plain text alone', () => {
    for (const text of ['', 'W = 5 %', 'Größe 🔋', '100 %s %d %j']) expect(printable(text)).to.equal(text);
  });

  it('shows control characters instead of sending them', () => {
    expect(printable('a\nb\r\tc\0')).to.equal('a\\x0ab\\x0d\\x09c\\x00');
    expect(printable('\u001b[31mred\u007f\u0085\u009b')).to.equal('\\x1b[31mred\\x7f\\x85\\x9b');
  });

  it('keeps line ends and backslashes of lines for a terminal', () => {
    expect(printableLines('a\\b\n\u001b[2Jc\0\rd')).to.equal('a\\b\n\\x1b[2Jc\\x00\\x0dd');
  });

  it('cuts long text and says so', () => {
    expect(printable('x'.repeat(4096))).to.equal('x'.repeat(4096));
    expect(printable('x'.repeat(4097))).to.equal(`${'x'.repeat(4093)}…`);
    expect(printable('x'.repeat(1e6))).to.equal(`${'x'.repeat(4093)}…`);
  });

  it('counts bytes, of what is escaped too, and cuts between characters', () => {
    expect(printable(`${'x'.repeat(4092)}🔋`)).to.equal(`${'x'.repeat(4092)}🔋`);
    expect(printable(`${'x'.repeat(4093)}🔋`)).to.equal(`${'x'.repeat(4093)}…`);
    expect(printable(`xx${'🔋'.repeat(2000)}`)).to.equal(`xx${'🔋'.repeat(1022)}…`);
    expect(Buffer.byteLength(printable('\0'.repeat(4096)))).to.be.within(4090, 4096);
  });

  it('shows marks that would break or turn the line, and halves of characters', () => {
    expect(printable('a\u2028b\u202ec\u2066d')).to.equal('a\\u2028b\\u202ec\\u2066d');
    expect(printable('a\ud83d b \ude00')).to.equal('a\\ud83d b \\ude00');
    expect(printable('a\u061cb\u200ec\u200fd')).to.equal('a\\u061cb\\u200ec\\u200fd');
  });

  it('shows a backslash as two, so that none passes for an escape', () => {
    expect(printable('\\x0a \n C:\\dir')).to.equal('\\\\x0a \\x0a C:\\\\dir');
  });

  it('tells text that could be shown as it is', () => {
    for (const text of ['', 'Größe 🔋', 'C:\\dir', 'x'.repeat(5000)])
      expect(isPrintable(text), text.slice(0, 20)).to.equal(true);
    for (const text of ['a\n', '\u001b[31m', 'a\u200fb', 'a\u202eb', 'a\ud83d'])
      expect(isPrintable(text), JSON.stringify(text)).to.equal(false);
  });

  it('is one line of at most 4 KiB, and the text can be read from it, whatever the text', () => {
    holds(
      'one line of at most 4 KiB',
      fc.string({ unit: codePoint, maxLength: 6000, size: 'max' }),
      (text) => {
        const line = printable(text);
        expect(Buffer.byteLength(line)).to.be.at.most(4096);
        expect(isPrintable(line)).to.equal(true);
        if (!line.endsWith('…')) {
          const read = line.replaceAll(/\\(?:\\|x([0-9a-f]{2})|u([0-9a-f]{4}))/g, (_, short?: string, long?: string) =>
            (short ?? long) ? String.fromCharCode(parseInt(short ?? long ?? '', 16)) : '\\',
          );
          expect(read).to.equal(text);
        }
      },
      { runs: 60 },
    );
  });
});

describe('log: buffer', () => {
  it('keeps the entries of every module with time, level and device', () => {
    const { book } = make();
    book.logger('Modbus').warning('slow master', 3);
    book.logger('AC').info('started');
    expect(book.entries()).to.deep.equal([
      { id: 1, timeMs: noon, simMs: null, level: 'warning', module: 'Modbus', deviceIndex: 3, message: 'slow master' },
      { id: 2, timeMs: noon, simMs: null, level: 'info', module: 'AC', deviceIndex: null, message: 'started' },
    ]);
    expect(book.dropped).to.equal(0);
  });

  it('is in the order of logging and filtered by module and level', () => {
    const { book } = make({ level: 'debug' });
    const [ac, dc] = [book.logger('AC'), book.logger('DC')];
    for (const level of logLevels) {
      ac[level](`ac ${level}`);
      dc[level](`dc ${level}`, 0);
    }
    const messages = (filter?: Parameters<LogBook['entries']>[0]) => book.entries(filter).map(({ message }) => message);
    expect(messages()).to.deep.equal(logLevels.flatMap((level) => [`ac ${level}`, `dc ${level}`]));
    expect(messages({ modules: ['DC'] })).to.deep.equal(logLevels.map((level) => `dc ${level}`));
    expect(messages({ modules: ['AC', 'OCPP'], levels: ['error', 'warning'] })).to.deep.equal([
      'ac warning',
      'ac error',
    ]);
    expect(messages({ modules: ['OCPP'] })).to.deep.equal([]);
    expect(messages({ levels: [] })).to.deep.equal([]);
    expect(book.entries({ modules: ['DC'] })[0]?.deviceIndex).to.equal(0);
    expect(book.modules).to.deep.equal(['AC', 'DC']);
  });

  it('drops lines of the module that talks most', () => {
    const { book } = make({ level: 'error' });
    const [ac, dc] = [book.logger('AC'), book.logger('DC')];
    dc.info('kept');
    for (let i = 1; i <= 5002; i += 1) ac.info(`line ${i}`);
    expect(book.dropped).to.equal(3);
    const kept = book.entries();
    expect(kept).to.have.lengthOf(5000);
    expect([kept[0]?.message, kept[1]?.message, kept.at(-1)?.message]).to.deep.equal(['kept', 'line 4', 'line 5002']);
  });

  it('takes from two loggers of a module', () => {
    const { book } = make();
    book.logger('AC').info('one');
    book.logger('AC').info('two');
    expect(book.entries()).to.have.lengthOf(2);
  });

  it('has no line that text from outside could forge', () => {
    const { book, lines } = make();
    book.logger('Modbus').info('peer says: ok\n2030-06-01T12:00:00.000Z ERROR [AC] forged');
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]?.match(/\n/g)).to.have.lengthOf(1);
    expect(book.entries()[0]?.message).to.include('ok\\x0a2030');
  });
});

describe('log: levels', () => {
  for (const [position, level] of logLevels.entries()) {
    it(`${level}: prints itself and what is above; the buffer keeps all from info`, () => {
      const { book, lines } = make({ level });
      const log = book.logger('WS');
      for (const each of logLevels) log[each](each);
      expect(lines.map((line) => line.trim().split(' ').at(-1))).to.deep.equal(logLevels.slice(position));
      expect(book.entries().map((entry) => entry.level)).to.deep.equal(logLevels.slice(level === 'debug' ? 0 : 1));
    });
  }

  it('info is the usual level', () => {
    const { book, lines } = make();
    book.logger('WS').debug('frame');
    expect([lines, book.entries()]).to.deep.equal([[], []]);
  });
});

describe('log: formats', () => {
  it('text: time, level, module, device', () => {
    const { book, lines } = make({ level: 'debug' });
    const log = book.logger('Modbus');
    log.debug('a');
    log.info('b', 0);
    log.warning('100 %s %d "quoted"', 12);
    log.error('d');
    expect(lines).to.deep.equal([
      '2030-06-01T12:00:00.000Z DEBUG [Modbus] a\n',
      '2030-06-01T12:00:00.000Z INFO  [Modbus 0] b\n',
      '2030-06-01T12:00:00.000Z WARN  [Modbus 12] 100 %s %d "quoted"\n',
      '2030-06-01T12:00:00.000Z ERROR [Modbus] d\n',
    ]);
  });

  it('json: one object per line', () => {
    const { book, lines } = make({ format: 'json' });
    book.logger('OCPP').error('boot "refused" %s', 4);
    book.logger('OCPP').info('x');
    expect(lines.every((line) => line.endsWith('}\n'))).to.equal(true);
    expect(lines.map((line) => JSON.parse(line) as unknown)).to.deep.equal([
      { level: 50, time: noon, module: 'OCPP', device: 4, msg: 'boot "refused" %s' },
      { level: 30, time: noon, module: 'OCPP', msg: 'x' },
    ]);
  });

  it('carries simulated time from the moment a clock is followed: the present one, or that of the event', () => {
    for (const format of ['text', 'json'] as const) {
      const { book, lines } = make({ format });
      const log = book.logger('AC');
      log.info('before');
      book.follow({ acting: () => simTimeFromMs(5000), dateMs: (t) => t / 1000 + 60_000 });
      log.info('now');
      log.warning('trip', 2, (simTimeFromMs(4160) + 999) as SimTime);
      expect(book.entries().map(({ simMs }) => simMs)).to.deep.equal([null, 65_000, 64_160]);
      expect(lines.at(-1)).to.equal(
        format === 'text'
          ? '2030-06-01T12:00:00.000Z sim 1970-01-01T00:01:04.160Z WARN  [AC 2] trip\n'
          : `{"level":40,"time":${noon},"sim":64160,"module":"AC","device":2,"msg":"trip"}\n`,
      );
    }
  });

  it('says whether debug lines are kept', () => {
    expect(make().book.logger('AC').keepsDebug).to.equal(false);
    expect(make({ level: 'debug' }).book.logger('AC').keepsDebug).to.equal(true);
  });

  it('what is only for the stream stands behind the message there, and is not kept', () => {
    for (const format of ['text', 'json'] as const) {
      const { book, lines } = make({ format, level: 'error' });
      book
        .logger('Lab')
        .error('request 1 failed: TypeError', undefined, 'TypeError: x\n    at f (file:///dir/a.ts:1:2)');
      book.logger('Lab').error('long', 2, 'y'.repeat(9000));
      expect(book.entries().map(({ message }) => message)).to.deep.equal(['request 1 failed: TypeError', 'long']);
      expect(lines).to.have.lengthOf(2);
      const shown = format === 'json' ? JSON.parse(lines[0] ?? '').msg : lines[0];
      expect(shown).to.contain('request 1 failed: TypeError: TypeError: x\\x0a    at f (file:///dir/a.ts:1:2)');
      expect(lines[1]).to.contain('long: yyyy').and.to.have.lengthOf.below(4200);
    }
  });

  it('the silent logger takes everything and returns', () => {
    for (const level of logLevels) silentLogger[level]('x', 1);
    expect(Object.keys(silentLogger)).to.deep.equal([...logLevels]);
  });
});
