#!/usr/bin/env node
/** What the build starts with: `--version` alone answers before the program is loaded. */
import { packageVersion } from './core/package-files.ts';

const words = process.argv.slice(2);
if (words.length === 1 && words[0] === '--version') process.stdout.write(`derbench ${packageVersion()}\n`);
else await import('./main.ts');
