# A double of the API of GitHub on loopback: comments of one pull request.  They are
# kept in DIR/comments.json; DIR/requests has a line for each request.  The token
# decides: "readonly" cannot write, "broken" gets errors of the server.
# Writes its port to DIR/port.
import http.server, json, os, re, sys

top = sys.argv[1]
kept = os.path.join(top, 'comments.json')


def load():
    with open(kept, encoding='utf-8') as f:
        return json.load(f)


def store(comments):
    with open(kept, 'w', encoding='utf-8') as f:
        json.dump(comments, f)


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, value):
        # as the service does, with escapes
        text = json.dumps(value, indent=1).replace('<', '\\u003c').replace(
            '>', '\\u003e').encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def handle_request(self):
        n = int(self.headers.get('Content-Length') or 0)
        body = self.rfile.read(n)
        with open(os.path.join(top, 'requests'), 'a') as f:
            f.write('%s %s\n' % (self.command, self.path))
        token = self.headers.get('Authorization', '').partition('Bearer ')[2]
        if token == 'broken':
            return self.answer(500, {'message': 'Server "Error" \\ :: %0A'})
        if token == '':
            return self.answer(401, {'message': 'Requires authentication'})
        path, _, query = self.path.partition('?')
        comments = load()
        if self.command == 'GET' and path == '/repos/o/r/issues/7/comments':
            args = dict(a.split('=') for a in query.split('&'))
            size, page = int(args['per_page']), int(args['page'])
            return self.answer(200, comments[(page - 1) * size:page * size])
        if token == 'readonly':
            return self.answer(403, {
                'message': 'Resource not accessible by integration'})
        text = json.loads(body.decode() or '{"body": ""}')['body']
        if self.command == 'POST' and path == '/repos/o/r/issues/7/comments':
            new = {'id': 9000000000 + len(comments), 'user': {
                'login': 'github-actions[bot]', 'id': 1, 'type': 'Bot'},
                'author_association': 'NONE', 'body': text}
            store(comments + [new])
            return self.answer(201, new)
        m = re.fullmatch('/repos/o/r/issues/comments/([0-9]+)', path)
        for c in comments:
            if self.command == 'PATCH' and m and c['id'] == int(m.group(1)):
                c['body'] = text
                store(comments)
                return self.answer(200, c)
        self.answer(404, {'message': 'Not Found'})

    do_GET = do_POST = do_PATCH = handle_request

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
with open(os.path.join(top, 'port.new'), 'w') as f:
    f.write(str(server.server_port))
os.rename(os.path.join(top, 'port.new'), os.path.join(top, 'port'))
server.serve_forever()
