// A service that starts crawls and tells how they are: POST /crawls/news { "seeds": ["example.org"] }, then GET it.
// Run it: node fastify-service.ts (in a project with gossamer and fastify installed)

import Fastify from 'fastify';
import { crawl, type Crawl, UsageError } from 'gossamer';

const runs = new Map<string, Crawl>();
const app = Fastify();
app.setErrorHandler<Error>((error, _, reply) => {
  reply.code(error instanceof UsageError ? 400 : 500).send({ error: error.message });
});
app.post<{ Params: { name: string }; Body: { seeds: string[] } }>('/crawls/:name', async ({ params, body }, reply) => {
  if (!/^[a-z0-9-]+$/.test(params.name)) throw new UsageError('the name of a crawl has a-z, 0-9 and -');
  runs.set(params.name, await crawl({ email: 'you@example.org', dir: `./crawl-${params.name}`, seeds: body.seeds }));
  return reply.code(201).send({ name: params.name });
});
app.get<{ Params: { name: string } }>('/crawls/:name', async ({ params }, reply) => {
  const status = runs.get(params.name)?.status();
  if (!status) return reply.code(404).send({ error: 'there is no such crawl' });
  return { phase: status.phase, pages: status.census?.pages ?? 0, waiting: status.census?.waiting ?? 0 };
});
app.delete<{ Params: { name: string } }>('/crawls/:name', async ({ params }) => {
  const end = await runs.get(params.name)?.stop();
  return { reason: end?.reason ?? 'unknown' };
});
app.addHook('onClose', () => Promise.all([...runs.values()].map((run) => run.stop())).then(() => {}));
process.once('SIGTERM', () => app.close()); // crawls end in order, and go on when they are posted again
console.log(await app.listen({ port: Number(process.env.PORT ?? 3000) }));
