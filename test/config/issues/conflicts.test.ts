import { expect } from 'chai';
import { issueLines, run } from '../support.ts';

describe('settings of Modbus lines', () => {
  it('there is no line by default, and MBAP frames', () => {
    const { rtu, modbus } = run([]);
    expect(rtu).to.equal(null);
    expect(modbus).to.include({ framing: 'tcp', foreignUnit: null });
  });

  it('a line is 9600 8N1 where nothing else is said', () => {
    expect(run(['-rtu', 'yes', '--rtu_port', 'COM10']).rtu).to.deep.equal({
      port: 'COM10',
      baud: 9600,
      parity: 'none',
      stopBits: 1,
    });
  });

  for (const [words, parity] of [
    [['N', 'n', 'none', 'None'], 'none'],
    [['E', 'e', 'even', 'EVEN'], 'even'],
    [['O', 'o', 'odd'], 'odd'],
  ] as const) {
    it(`takes ${words.join(', ')} for the parity ${parity}`, () => {
      for (const word of words)
        expect(run(['-rtu', 'yes', '--rtu_port', 'COM10', '--rtu_parity', word]).rtu?.parity).to.equal(parity);
    });
  }

  it('settings of a line that is off do not matter', () => {
    expect(run(['--rtu_port', '/dev/ttyS9', '-N', '300']).rtu).to.equal(null);
  });

  it('a line takes 247 devices', () => {
    expect(run(['-rtu', 'yes', '--rtu_port', 'COM10', '-N', '247']).devices).to.have.length(247);
    expect(run(['-rtu', 'yes', '--rtu_port', 'COM10', '--first_device', '246']).devices).to.have.length(1);
  });

  const cases: readonly (readonly [string[], string[]])[] = [
    [
      ['-rtu', 'yes'],
      ['--rtu_port: not given, but -rtu is yes; allowed: a serial device, for example /dev/ttyUSB0 or COM10'],
    ],
    [['--rtu_port='], ['--rtu_port: has no value; allowed: a serial device, for example /dev/ttyUSB0 or COM10']],
    [
      ['-rtu', 'yes', '--rtu_port', 'COM10', '-N', '248'],
      ['-rtu: given yes, so that the last device would have unit id 248; allowed: unit ids up to 247 on one line'],
    ],
    [
      ['-rtu', 'yes', '--rtu_port', 'COM10', '--first_device', '247'],
      ['-rtu: given yes, so that the last device would have unit id 248; allowed: unit ids up to 247 on one line'],
    ],
    [['--rtu_parity', 'mark'], ['--rtu_parity: given "mark"; allowed: N, E, O, none, even, odd']],
    [['--rtu_stopbits', '3'], ['--rtu_stopbits: given "3"; allowed: a whole number from 1 to 2']],
    [['--rtu_stopbits', '1.5'], ['--rtu_stopbits: given "1.5"; allowed: a whole number from 1 to 2']],
    [['--rtu_baud', '0'], ['--rtu_baud: given "0"; allowed: a whole number from 110 to 4000000']],
    [['--mb_framing', 'ascii'], ['--mb_framing: given "ascii"; allowed: tcp, rtu_over_tcp']],
    [['--meter_unit', '1'], ['--meter_unit: given 1, but devices have unit id 1; allowed: another unit id up to 247']],
    [
      ['--meter_unit', '2', '-N', '3', '--mb_shared_port', 'yes'],
      ['--meter_unit: given 2, but devices have unit ids 1 to 3; allowed: another unit id up to 247'],
    ],
    [['--meter_port', '8504', '-N', '3'], ['--meter_port: given 8504, which mb_port uses; allowed: another port']],
    [['--mb_foreign_unit', 'loud'], ['--mb_foreign_unit: given "loud"; allowed: silent, gateway']],
    [
      ['--mb_framing', 'rtu_over_tcp', '--mb_foreign_unit', 'gateway'],
      ['--mb_foreign_unit: given gateway together with --mb_framing rtu_over_tcp; allowed: silent'],
    ],
  ];
  for (const [argv, lines] of cases)
    it(argv.join(' '), () => {
      expect(issueLines(argv)).to.deep.equal(lines);
    });

  it('RTU frames are not offered inside TLS', () => {
    expect(issueLines(['-e', 'yes', '--mb_framing', 'rtu_over_tcp'])).to.include(
      '-e: given yes together with --mb_framing rtu_over_tcp; allowed: one of the two',
    );
  });
});

describe('settings of the history on disk', () => {
  it('a kept history needs the folder of a state', () => {
    expect(issueLines(['--state_history', 'yes'])).to.deep.equal([
      '--state_history: given yes without --state_dir; allowed: with the folder of a state, or no',
    ]);
    expect(run(['--state_history', 'yes', '--state_dir', 'lab']).stateHistory).to.deep.equal({ hours: 24 });
    expect(run(['--state_dir', 'lab']).stateHistory).to.equal(null);
  });

  it('hours without a kept history are a line of the log, and others than 1 to 744 are refused', () => {
    expect(run(['--state_history_hours', '48']).unused).to.deep.equal([
      'state_history_hours is given and has no effect, because state_history is off',
    ]);
    for (const hours of ['0', '745', '1.5'])
      expect(issueLines(['--state_history_hours', hours]).join()).to.include('a whole number from 1 to 744');
  });
});
