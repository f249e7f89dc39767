import { expect } from 'chai';
import { parseFlags } from '../../../src/config/layers/flags.ts';
import { issueLines, issuesOf } from '../support.ts';

describe('issues of the command line', () => {
  const cases: readonly (readonly [string[], string[]])[] = [
    [['--webiste_port', '1'], ['--webiste_port: unknown flag; nearest known: --website_port']],
    [['-website_ip', '::1'], ['-website_ip: unknown flag; nearest known: --website_ip']],
    [['-n', '2'], ['-n: unknown flag; nearest known: -N']],
    [['-N3'], ['-N3: unknown flag; nearest known: -N']],
    [
      ['--mb-max-connections', '2'],
      [
        '--mb-max-connections: unknown flag; mb_max_connections is a key of configuration files, and ' +
          'DERBENCH_MB_MAX_CONNECTIONS a variable of the environment',
      ],
    ],
    [['--quite-another'], ['--quite-another: unknown flag; allowed: those that derbench --help lists']],
    [['--'], ['--: unknown flag; allowed: those that derbench --help lists']],
    [['--help=yes'], ['--help: unknown flag; nearest known: --help']],
    [['stray'], ['"stray": is neither a flag nor the value of a flag; allowed: flags, each with its value']],
    [['-N', '2', '-5'], ['"-5": is neither a flag nor the value of a flag; allowed: flags, each with its value']],
    [['-N'], ['-N: has no value; allowed: a whole number from 1 to 10000']],
    [['-N='], ['-N: has no value; allowed: a whole number from 1 to 10000']],
    [['-mb', '--seed', '2'], ['-mb: has no value; allowed: yes, true, on, 1, no, false, off, 0']],
    [['-N', '2', '-N', '2'], ['-N: given twice; allowed: once']],
    [['-wp', '1', '--website-port=1'], ['--website-port: given twice (as -wp); allowed: once']],
    [['-wp', '1.5'], ['-wp: given "1.5"; allowed: a whole number from 0 to 65535']],
    [['-p', '0x10'], ['-p: given "0x10"; allowed: a whole number from 0 to 65535']],
    [['-p', '65536'], ['-p: given "65536"; allowed: a whole number from 0 to 65535']],
    [['-p', '-1'], ['-p: given "-1"; allowed: a whole number from 0 to 65535']],
    [['-N', '0'], ['-N: given "0"; allowed: a whole number from 1 to 10000']],
    [['-N', '10001'], ['-N: given "10001"; allowed: a whole number from 1 to 10000']],
    [['--tick', '0.09'], ['--tick: given "0.09"; allowed: a number from 0.1 to 60']],
    [['--tick', 'Infinity'], ['--tick: given "Infinity"; allowed: a number from 0.1 to 60']],
    [['--tick', '1e999'], ['--tick: given "1e999"; allowed: a number from 0.1 to 60']],
    [['--tick', '1s'], ['--tick: given "1s"; allowed: a number from 0.1 to 60']],
    [['--time_rate', '3601'], ['--time_rate: given "3601"; allowed: a number from 0.01 to 3600']],
    [['-mb', 'maybe'], ['-mb: given "maybe"; allowed: yes, true, on, 1, no, false, off, 0']],
    [
      ['-wc_tz', 'Mars/Base'],
      ['-wc_tz: given "Mars/Base"; allowed: an IANA time zone name, for example Europe/Berlin'],
    ],
    [['-wc_tz', '+01:00'], ['-wc_tz: given "+01:00"; allowed: an IANA time zone name, for example Europe/Berlin']],
    [['--start_clock_time', '24:00:00'], ['--start_clock_time: given "24:00:00"; allowed: a time of day HH:MM:SS']],
    [
      ['--start_date', '2026-02-29'],
      [
        '--start_date: given "2026-02-29", a day that the calendar does not have; allowed: a calendar date ' +
          'YYYY-MM-DD from 1970-01-02 to 2199-12-31',
      ],
    ],
    [['--mb_host', '300.1.1.1'], ['--mb_host: given "300.1.1.1"; allowed: an IP address or a host name']],
    [['-wi', 'a b'], ['-wi: given "a b"; allowed: an IP address or a host name']],
    [['--log_level', 'loud'], ['--log_level: given "loud"; allowed: debug, info, warning, error']],
    [['--series_end', 'stop'], ['--series_end: given "stop"; allowed: loop, hold']],
    [['--wind_time_scale', '0'], ['--wind_time_scale: given "0"; allowed: a number from 0.01 to 3600']],
    [
      ['-d', 'HybridDC-3Phase', '--hybrid_soc_max_pct', '101'],
      ['--hybrid_soc_max_pct: given "101"; allowed: a number from 0 to 100'],
    ],
    [
      ['-d', 'HybridDC-3Phase', '--hybrid_pv_kw', '0'],
      ['--hybrid_pv_kw: given "0"; allowed: a number from 0.1 to 100000'],
    ],
    [
      ['-d', 'HybridDC-3Phase', '--hybrid_dispatch', 'best'],
      ['--hybrid_dispatch: given "best"; allowed: self_consumption, pv_priority, manual'],
    ],
    [
      ['-d', 'Fuelcell-3Phase', '--fuelcell_chemistry', 'AFC'],
      ['--fuelcell_chemistry: given "AFC"; allowed: PEMFC, SOFC'],
    ],
    [['--load_profile', 'no.csv'], ['--load_profile: given "/site/no.csv"; allowed: the path of a file that exists']],
    [
      ['-d', 'EVSE', '--vehicles', 'no.csv'],
      ['--vehicles: given "/site/no.csv"; allowed: the path of a file that exists'],
    ],
    [['-dc_p', 'no.csv'], ['-dc_p: given "/site/no.csv"; allowed: the path of a file that exists']],
    [['--grid_profile', 'no.csv'], ['--grid_profile: given "/site/no.csv"; allowed: the path of a file that exists']],
  ];
  for (const [argv, lines] of cases) {
    it(argv.join(' '), () => expect(issueLines(argv)).to.deep.equal(lines));
  }

  for (const origin of [
    '*',
    'null',
    'localhost:3000',
    'http://a/',
    'http://a:80',
    'HTTP://a',
    'ftp://a',
    'http://u@a',
  ]) {
    it(`refuses the origin ${origin}`, () => {
      expect(issuesOf(['--cors_origin', origin])[0]?.name).to.equal('--cors_origin');
    });
  }
  for (const name of ['*', 'a:80', '*.a', '', 'a,,b']) {
    it(`refuses the allowed host "${name}"`, () => {
      expect(issuesOf([`--allowed_host=${name}`])).to.have.length(1);
    });
  }

  it('names every device type for an unknown one', () => {
    const [issue] = issuesOf(['-d', 'Tidal-3Phase']);
    expect(issue?.allowed).to.deep.equal([
      'PV-3Phase',
      'PV',
      'PV-2Phase',
      'PV-1Phase',
      'Batt-3Phase',
      'Batt',
      'Batt-2Phase',
      'Batt-1Phase',
      'Wind-T3-3Phase',
      'Wind-T4-3Phase',
      'Fuelcell-3Phase',
      'HybridDC-3Phase',
      'EVSE',
    ]);
    expect(issue?.detail).to.equal(`given "Tidal-3Phase"; allowed: ${issue?.allowed?.join(', ') ?? ''}`);
  });
  it('counts the value behind an unknown flag to the flag', () => {
    expect(issueLines(['--tik', '3'])).to.deep.equal(['--tik: unknown flag; nearest known: --tick']);
  });
  it('takes a negative number as value', () => {
    expect(parseFlags(['--seed', '-1']).values.get('seed')).to.deep.equal({ spelling: '--seed', text: '-1' });
  });
});
