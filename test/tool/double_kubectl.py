# A double of kubectl, and with the argument `serve` of a cluster: the pods of an
# indexed Job are processes of this machine.
#
# $KUBE_STATE is the directory of both.  Secrets are files in $KUBE_STATE/secrets
# with lines NAME=VALUE.  If the first pod of an index runs and $KUBE_STATE/kill-INDEX
# exists, it is killed.  With $KUBE_LOG_MAX, logs have only their last bytes, as after
# a rotation.  $KUBE_FAIL is a command (create, get, logs, delete) that fails.
import base64, json, os, re, signal, subprocess, sys, time

state = os.environ['KUBE_STATE']
args, flags = [], {}
words = sys.argv[1:]
while words:
    w = words.pop(0)
    if w == '--filename':
        flags[w] = words.pop(0)
    elif w.startswith('--'):
        name, _, value = w.partition('=')
        flags[name] = value
    else:
        args.append(w)


def fail(text):
    sys.stderr.write('error: ' + text + '\n')
    sys.exit(1)


def path(*parts):
    return os.path.join(state, *parts)


def load():
    try:
        with open(path('state.json')) as f:
            return json.load(f)
    except FileNotFoundError:
        return None


def save(v):
    with open(path('state.new'), 'w') as f:
        json.dump(v, f)
    os.rename(path('state.new'), path('state.json'))


# A volume of a ConfigMap has its files behind links, as the kubelet makes them.
def mount(where, volume, items):
    data = {}
    for i in items:
        if i['kind'] == 'ConfigMap':
            for k, v in i.get('data', {}).items():
                data[k] = v.encode()
            for k, v in i.get('binaryData', {}).items():
                data[k] = base64.b64decode(v)
    real = os.path.join(where, '..1')
    for i in volume['configMap']['items']:
        to = os.path.join(real, i['path'])
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, 'wb') as f:
            f.write(data[i['key']])
        os.chmod(to, i['mode'])
    os.symlink('..1', os.path.join(where, '..data'))
    for name in os.listdir(real):
        os.symlink('..data/' + name, os.path.join(where, name))


def expand(word, env):
    """$(NAME) and $$, as the kubelet replaces them"""
    return re.sub(r'\$(?:\$|\(([^)]*)\))', lambda m: '$' if m[1] is None
                  else env.get(m[1], m[0]), word)


class Pod:
    def __init__(self, items, job, index, number):
        spec = job['spec']['template']['spec']
        c = spec['containers'][0]
        self.index, self.name = index, '%s-%d-%d' % (
            job['metadata']['name'], index, number)
        self.first, self.status = number == 0, None
        d = path('pods', self.name)
        os.makedirs(d)
        for v in spec['volumes']:
            if 'configMap' in v:
                os.makedirs(d + '/files')
                mount(d + '/files', v, items)
            if 'persistentVolumeClaim' in v:
                os.makedirs(path('claim'), exist_ok=True)
                os.symlink(path('claim'), d + '/results')
        env = {'PATH': os.environ['PATH'], 'HOME': d, 'TMPDIR': d,
               'JOB_COMPLETION_INDEX': str(index), 'WAZA_POD_DIR': d}
        for s in c.get('envFrom', []):
            with open(path('secrets', s['secretRef']['name'])) as f:
                for line in f:
                    k, _, v = line.rstrip('\n').partition('=')
                    env[k] = v
        with open(d + '.log', 'wb') as log:
            self.process = subprocess.Popen(
                [expand(w, env) for w in c['command'] + c['args']],
                env=env, cwd=d, stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, start_new_session=True)

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def poll(self):
        if self.status is None:
            if self.first and os.path.exists(path('kill-%d' % self.index)):
                self.end()
            n = self.process.poll()
            if n is not None:
                self.end()
                self.status = 128 - n if n < 0 else n
        return self.status

    def show(self):
        phase = ('Running' if self.status is None else
                 'Failed' if self.status else 'Succeeded')
        reason = '' if phase == 'Running' else (
            'Completed' if self.status == 0 else 'Error')
        return ['Pod', self.name, str(self.index), phase, '', reason,
                '' if self.status is None else str(self.status), '', '', '']


# One Job from its creation to its deletion.
def control(items, stop):
    job = [i for i in items if i['kind'] == 'Job'][0]
    spec = job['spec']
    todo = [(i, 0) for i in range(spec['completions'])]
    pods, failed = [], []
    while not stop and not os.path.exists(path('delete')):
        running = [p for p in pods if p.status is None]
        for p in running:
            if p.poll():
                n = sum(q.index == p.index for q in pods)
                if n <= spec['backoffLimitPerIndex']:
                    todo.append((p.index, n))
                else:
                    failed.append(p.index)
        running = [p for p in pods if p.status is None]
        while todo and len(running) < spec['parallelism']:
            index, n = todo.pop(0)
            pods.append(Pod(items, job, index, n))
            running.append(pods[-1])
        over = not running and not todo
        v = [['Job', job['metadata']['name'], '', '', '', '', '', '',
              ','.join(map(str, sorted(failed))),
              'FailedIndexes' if over and failed else '']]
        save({'lines': v + [p.show() for p in pods]})
        time.sleep(0.05)
    for p in pods:
        p.end()
        p.process.wait()
    os.remove(path('state.json'))


def serve():
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    while not stop:
        try:
            os.rename(path('create'), path('creating'))
        except FileNotFoundError:
            time.sleep(0.05)
            continue
        with open(path('creating')) as f:
            control(json.load(f), stop)


def create():
    with open(flags['--filename']) as f:
        items = json.load(f)['items']
    with open(path('created'), 'a') as f:
        f.write(json.dumps(items) + '\n')
    if os.path.exists(path('delete')):
        os.remove(path('delete'))
    with open(path('create.new'), 'w') as f:
        json.dump(items, f)
    os.rename(path('create.new'), path('create'))
    while load() is None:
        time.sleep(0.02)
    for i in items:
        print('%s/%s created' % (i['kind'].lower(), i['metadata']['name']))


def get():
    for line in (load() or {'lines': []})['lines']:
        print('\t'.join(line))


def logs():
    with open(path('pods', args[1] + '.log'), 'rb') as f:
        text = f.read()
    sys.stdout.buffer.write(text[-int(os.environ.get('KUBE_LOG_MAX', '0')):])


def delete():
    with open(path('deleted'), 'a') as f:
        f.write(flags['--selector'] + '\n')
    open(path('delete'), 'w').close()
    while load() is not None:
        time.sleep(0.02)


if os.environ.get('KUBE_FAIL') == args[0]:
    fail('the server does not answer')
{'create': create, 'get': get, 'logs': logs, 'delete': delete,
 'serve': serve}[args[0]]()
