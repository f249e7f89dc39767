import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { commandsPage } from '../../../scripts/generate-commands.ts';
import { parseArguments } from '../../../src/app/cli/arguments.ts';
import { completionScript } from '../../../src/app/cli/completion.ts';
import { answerLight } from '../../../src/app/cli/light.ts';
import { commandHelp, shortHelp, topics } from '../../../src/app/cli/short-help.ts';
import { isStart } from '../../../src/app/cli/start-words.ts';
import { commandNames, commandOf, commands } from '../../../src/app/cli/table/commands.ts';
import { topicText } from '../../../src/app/cli/topics.ts';
import { clientCommands } from '../../../src/client-commands/commands.ts';
import { exitCodes } from '../../../src/core/exit-codes.ts';
import { packageFile } from '../../../src/core/package-files.ts';
import { skip } from '../../support/skip.ts';

/** How a command line is answered without the program, with both outputs. */
async function answered(...words: readonly string[]) {
  const [out, error]: [string[], string[]] = [[], []];
  const answer = await answerLight(words, { out: (text) => out.push(text), error: (text) => error.push(text) });
  return { answer, out: out.join('\n'), error: error.join('\n') };
}

describe('the table of commands', () => {
  it('has each name once, and the clients that there are', () => {
    expect(new Set(commandNames).size).to.equal(commandNames.length);
    const clients = commands.filter(({ runs }) => runs === 'client').map(({ name }) => name);
    expect([...clients].sort()).to.deep.equal(Object.keys(clientCommands).sort());
  });

  it('docs/reference/commands.md is up to date (npm run generate:commands)', () => {
    expect(readFileSync(packageFile('docs/reference/commands.md'), 'utf8')).to.equal(commandsPage());
  });

  it('gives a short help of 45 lines with every command and topic, and a help of each command, in 80 columns', () => {
    const text = shortHelp();
    const lines = text.split('\n');
    expect(lines.length).to.be.at.most(45);
    for (const line of [...lines, ...commands.flatMap((command) => commandHelp(command).split('\n'))])
      expect(line.length, line).to.be.at.most(80);
    for (const name of [...commandNames, ...Object.keys(topics)]) expect(text).to.match(new RegExp(`\\b${name}\\b`));
  });

  it('has examples that its own options allow', () => {
    for (const command of commands.filter(({ runs }) => runs === 'client'))
      for (const [example] of command.examples) {
        const [program, name, ...words] = example.replaceAll("'", '').split(' ');
        expect([program, name]).to.deep.equal(['derbench', command.name]);
        expect(() => parseArguments(command, words), example).not.to.throw();
      }
  });
});

describe('arguments of a command', () => {
  const parsed = (...words: readonly string[]) => {
    const { words: rest, options } = parseArguments(commandOf('grid')!, words);
    return { words: rest, options: Object.fromEntries(options) };
  };

  it('takes values behind a flag and behind =, repeats what may be repeated, and negative numbers as words', () => {
    expect(parsed('sag', '--param', 'a=1', '--param=b=2', '-5', '--json')).to.deep.equal({
      words: ['sag', '-5'],
      options: { '--param': ['a=1', 'b=2'], '--json': [''] },
    });
  });

  it('takes a number and the unit behind it as one value', () => {
    expect(parsed('50', '%', '--for', '60', 's', '5', 'kW', 'a', 's')).to.deep.equal({
      words: ['50%', '5kW', 'a', 's'],
      options: { '--for': ['60s'] },
    });
  });

  for (const [words, text] of [
    [['--parm', 'a=1'], '--parm is no option of grid; did you mean --param?'],
    [['--for'], '--for has no value. Write --for TIME.'],
    [['--for='], '--for has no value'],
    [['--for', '1', '--for', '2'], '--for is given twice'],
    [['--json=yes'], '--json takes no value'],
  ] as const)
    it(`refuses ${words.join(' ')}`, () => {
      expect(() => parsed(...words)).to.throw(text);
    });
});

describe('command lines without the program', () => {
  it('a start has no word, or a flag first, unless it asks for the short help', () => {
    for (const words of [[], ['-p', '0'], ['--help'], ['-h', '--help']])
      expect(isStart(words), words.join()).to.equal(true);
    for (const words of [['-h'], ['-p', '0', '-h'], ['start'], ['hlep']])
      expect(isStart(words), words.join()).to.equal(false);
  });

  it('leaves commands of the program their words, and start its flags', async () => {
    for (const words of [
      ['run', 'volt-watt', '-h'],
      ['state', '--help'],
      ['completion', 'bash'],
    ])
      expect((await answered(...words)).answer).to.deep.equal({ program: words });
    expect((await answered('start', '-p', '0')).answer).to.deep.equal({ program: ['-p', '0'] });
    expect((await answered('start', '--help')).answer).to.deep.equal({ program: ['--help'] });
    expect((await answered('help', 'flags', 'modbus')).answer).to.deep.equal({ program: ['help', 'flags', 'modbus'] });
    expect((await answered('help', 'run')).answer).to.deep.equal({ program: ['run', '--help'] });
  });

  it('prints the short help and that of a command', async () => {
    for (const words of [['-h'], ['-p', '0', '-h'], ['help']])
      expect(await answered(...words)).to.deep.equal({ answer: { code: 0 }, out: shortHelp(), error: '' });
    for (const words of [
      ['get', '-h'],
      ['get', '701.W', '--help'],
      ['help', 'get'],
    ])
      expect((await answered(...words)).out).to.equal(commandHelp(commandOf('get')!));
    expect((await answered('start', '-h')).out).to.contain('derbench help flags');
  });

  it('refuses another word with the nearest command and the list, and names derbench run for a file', async () => {
    const { answer, out, error } = await answered('watsh');
    expect([answer, out]).to.deep.equal([{ code: exitCodes.usage }, '']);
    expect(error).to.match(/^derbench: "watsh" is no command; did you mean watch\? Commands: start, run, .*\.$/);
    expect((await answered('stop')).error).to.match(/is no command\. Ctrl\+C in its terminal ends a simulator/);
    expect((await answered('test.yaml')).error).to.contain('A scenario runs with: derbench run test.yaml.');
  });

  it('refuses wrong words of a command with exit code 2', async () => {
    const { answer, error } = await answered('get', '--nothing');
    expect(answer).to.deep.equal({ code: exitCodes.usage });
    expect(error).to.match(/^derbench get: --nothing is no option of get/);
  });
});

describe('help topics', () => {
  it('have a text each', () => {
    for (const topic of Object.keys(topics)) expect(topicText([topic]), topic).not.to.equal('');
    expect(topicText(['exit-codes'])).to.match(/^ {2}5 +No simulator answers/m);
    expect(topicText(['flags', 'modbus']))
      .to.contain('--mb_port')
      .and.not.contain('--website_port');
    expect(topicText(['ports'])).to.match(/--website_port +8111 /);
  });

  it('refuse others with the nearest', () => {
    expect(() => topicText(['exit-code'])).to.throw('did you mean exit-codes?');
    expect(() => topicText(['flags', 'modbos'])).to.throw('did you mean modbus?');
    expect(() => topicText(['ports', 'modbus'])).to.throw('ports modbus');
  });
});

describe('completion', () => {
  const completed = (words: readonly string[], at: number) => {
    const line = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${at}; _derbench; echo "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', `${completionScript(['bash'])}\n${line}`], {
      encoding: 'utf8',
    });
    expect(stderr).to.equal('');
    return stdout.trim().split(' ');
  };

  it('of bash offers commands, names that come with derbench, options, and values of flags', () => {
    expect(completed(['derbench', 'unp'], 1)).to.deep.equal(['unplug']);
    expect(completed(['derbench', 'run', 'volt-w'], 2)).to.include('volt-watt');
    expect(completed(['derbench', 'limit', '--ex'], 2)).to.deep.equal(['--export', '--expect-instance']);
    expect(completed(['derbench', '--config', 'mixed'], 2)).to.deep.equal(['mixed-site']);
    expect(completed(['derbench', 'help', 'exit'], 2)).to.deep.equal(['exit-codes']);
  });

  /** Runs a shell without files of its user; skipped where it is missing. */
  const inShell = (context: Mocha.Context, shell: string, args: readonly string[]) => {
    const { error, status, stdout, stderr } = spawnSync(shell, args, { encoding: 'utf8' });
    if (error !== undefined) skip(context, `${shell} is missing`);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    return stdout;
  };

  it('of fish offers commands with their words, names and values', function () {
    const lines = ['derbench unp', 'derbench run volt-w', 'derbench --config mixed'];
    const script = [completionScript(['fish']), ...lines.map((line) => `complete -C "${line}"`)].join('\n');
    const offers = inShell(this, 'fish', ['--no-config', '-c', script]).trim().split('\n');
    expect(offers.map((offer) => offer.split('\t')[0])).to.deep.equal(['unplug', 'volt-watt', 'mixed-site']);
  });

  it('of zsh is a script of zsh', function () {
    inShell(this, 'zsh', ['-f', '-n', '-c', completionScript(['zsh'])]);
  });

  it('of zsh and fish has every command, and no other shell has one', () => {
    for (const shell of ['zsh', 'fish'])
      for (const name of commandNames)
        expect(completionScript([shell]), `${shell} ${name}`).to.match(new RegExp(`\\b${name}\\b`));
    expect(() => completionScript(['tcsh'])).to.throw('Shells: bash, zsh, fish.');
    expect(() => completionScript(['bash', 'zsh'])).to.throw('Shells: bash, zsh, fish.');
  });
});
