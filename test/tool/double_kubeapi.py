# A double of the API server of Kubernetes on loopback, for kubectl: discovery, and
# one Job with pods in several states.  Writes its port to the file that is named.
import http.server, json, os, sys


def resource(name, kind):
    return {'name': name, 'singularName': kind.lower(), 'namespaced': True,
            'kind': kind, 'verbs': ['create', 'delete', 'deletecollection',
                                    'get', 'list', 'patch', 'watch']}


def pod(index, status):
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {
        'name': 'waza-1-%d-x' % index, 'namespace': 'evals', 'annotations': {
            'batch.kubernetes.io/job-completion-index': str(index)}},
        'spec': {'containers': []}, 'status': status}


def container(state):
    return [{'name': 'waza', 'state': state}]


job = {'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {
    'name': 'waza-1', 'namespace': 'evals'}, 'spec': {}, 'status': {
        'failedIndexes': '1,3-5', 'conditions': [
            {'type': 'FailureTarget', 'status': 'True', 'reason': 'Other'},
            {'type': 'Failed', 'status': 'True', 'reason': 'FailedIndexes'}]}}
pods = [
    pod(1, {'phase': 'Failed', 'containerStatuses': container(
        {'terminated': {'reason': 'OOMKilled', 'exitCode': 137}})}),
    pod(2, {'phase': 'Pending', 'conditions': [
        {'type': 'Ready', 'status': 'False'}],
        'containerStatuses': container({'waiting': {
            'reason': 'ErrImagePull', 'message': 'not found'}})}),
    pod(3, {'phase': 'Failed', 'reason': 'Evicted'}),
]
answers = {
    '/api': {'kind': 'APIVersions', 'versions': ['v1']},
    '/apis': {'kind': 'APIGroupList', 'apiVersion': 'v1', 'groups': [
        {'name': 'batch', 'versions': [
            {'groupVersion': 'batch/v1', 'version': 'v1'}],
            'preferredVersion': {
                'groupVersion': 'batch/v1', 'version': 'v1'}}]},
    '/api/v1': {'kind': 'APIResourceList', 'groupVersion': 'v1', 'resources': [
        resource('configmaps', 'ConfigMap'), resource('pods', 'Pod')]},
    '/apis/batch/v1': {'kind': 'APIResourceList', 'groupVersion': 'batch/v1',
                       'resources': [resource('jobs', 'Job')]},
    '/version': {'major': '1', 'minor': '32', 'gitVersion': 'v1.32.0'},
    '/apis/batch/v1/namespaces/evals/jobs': {
        'kind': 'JobList', 'apiVersion': 'batch/v1', 'metadata': {},
        'items': [job]},
    '/api/v1/namespaces/evals/pods': {
        'kind': 'PodList', 'apiVersion': 'v1', 'metadata': {}, 'items': pods},
    '/api/v1/namespaces/evals/configmaps': {
        'kind': 'ConfigMapList', 'apiVersion': 'v1', 'metadata': {},
        'items': []},
}


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        value = answers.get(self.path.partition('?')[0])
        if value is None:
            self.answer(404, {'kind': 'Status', 'apiVersion': 'v1',
                              'status': 'Failure', 'reason': 'NotFound',
                              'code': 404, 'message': 'not found'})
        else:
            self.answer(200, value)

    # the Job has gone at once
    def do_DELETE(self):
        answers['/apis/batch/v1/namespaces/evals/jobs']['items'] = []
        self.answer(200, {'kind': 'Status', 'apiVersion': 'v1',
                          'status': 'Success'})


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
with open(sys.argv[1] + '.new', 'w') as f:
    f.write(str(server.server_port))
os.rename(sys.argv[1] + '.new', sys.argv[1])
server.serve_forever()
