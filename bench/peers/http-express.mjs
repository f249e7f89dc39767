// The same objects by Express 5, as most would write it. Arguments: as of http-bare.mjs.
import { readFileSync } from 'node:fs';
import express from 'express';

const [file, port] = process.argv.slice(2);
const app = express();
for (const [path, { body }] of Object.entries(JSON.parse(readFileSync(file, 'utf8')))) {
  const object = JSON.parse(body);
  app.get(path, (_request, response) => { response.json(object); });
}
app.listen(Number(port), '127.0.0.1');
